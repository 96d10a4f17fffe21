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
  const sha256 = 'ab'.repeat(32)
  const pinned = parseRolloverFile(
    `${common}kubeadm: { nodes: [cp-1], identities: { cp-1: ${sha256} } }\n`,
    'rollover.yaml',
  )
  assert.deepEqual(pinned.kubeadm?.identities, { 'cp-1': sha256 })
  refused(
    `kubeadm: { nodes: [cp-1, cp-2], identities: { cp-1: ${sha256} } }\n`,
    /kubeadm.identities.cp-2 must be a string/,
  )
  refused('kubeadm: { nodes: [cp-1], identities: { cp-1: x } }\n', /must be a SHA-256/)
  refused('kubeadm: { nodes: [cp-1], port: 0 }\n', /kubeadm.port/)
})
