import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { parseRolloverFile } from '../generic/rollover-file.ts'

const common = `directory: /var/lib/rollcall/rollover
authorities:
  client: { certificate: /etc/kubernetes/pki/ca.crt, key: /etc/kubernetes/pki/ca.key }
`

test('the nodes of a kubeadm control plane are named in the file, and nothing is run by hooks there', () => {
  const { kubeadm, apiServers } = parseRolloverFile(
    `${common}kubeadm: { nodes: [cp-1, cp-2, cp-1] }\n`,
    'rollover.yaml',
  )
  assert.deepEqual([kubeadm, apiServers], [{ nodes: ['cp-1', 'cp-2'], port: 6443 }, []])
  const refused = (more: string, why: RegExp) =>
    assert.throws(
      () => parseRolloverFile(common + more, 'rollover.yaml'),
      error => hasCode(error, 'USAGE') && why.test(error.message),
    )
  refused('kubeadm: { nodes: [] }\n', /must name every control-plane node/)
  refused(
    'kubeadm: { nodes: [cp-1] }\nhooks: { present: wait }\n',
    /hooks is for clusters that kubeadm did not make/,
  )
  refused('kubeadm: { nodes: [cp-1], port: 0 }\n', /kubeadm.port/)
})
