/**
 * Both CAs of a kubeadm control plane are changed by `rollcall agent --control-plane` and `controller --rollover` in processes of
 * their own, over stand-ins for the components that read their files as those do. Minutes long, since each restart of the API
 * server is waited out; by name: node test/rollover/run-kubeadm.ts
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { parseCertificatesPem } from '../../src/x509/certificate.ts'
import { formatName } from '../../src/x509/name.ts'
import { kubeadmNode, type Programs } from '../assets/kubeadm-node.ts'
import { kubeadmRollover } from '../support/kubeadm-rollover.ts'
import { temporaryFolder } from '../support/rollcall-process.ts'

const script = fileURLToPath(new URL('../support/kubeadm-component.ts', import.meta.url))
const programs: Programs = {
  components: ['kube-apiserver', 'kube-controller-manager', 'kube-scheduler'],
  words: [script],
  start: (component, [, ...words], log) =>
    spawn(process.execPath, words, { argv0: component, stdio: ['ignore', log, log] }),
  storage: async path => ({ flags: { 'etcd-servers': join(path, 'state.db') }, stop: async () => {} }),
}
/** What `RestartsNamed` says. */
const named = {
  client: { 'kube-apiserver': 1, 'kube-controller-manager': 3, 'kube-scheduler': 1 },
  'apiserver-serving': { 'kube-apiserver': 1, 'kube-controller-manager': 2, 'kube-scheduler': 2 },
}

const folder = temporaryFolder()
const node = await kubeadmNode(folder.path, programs)
const stops: (() => Promise<unknown>)[] = [() => node.stop()]
try {
  const rollover = await kubeadmRollover(node, folder.path, stops)
  for (const role of ['client', 'apiserver-serving'] as const) {
    const before = { ...node.starts }
    await rollover.rotated(role)
    const restarts = rollover.restartsSince(before)
    assert.deepEqual(restarts, named[role])
    process.stdout.write(`${role}: done, started anew ${JSON.stringify(restarts)}\n`)
  }
  const [leaf] = parseCertificatesPem(readFileSync(join(node.root, 'pki/rollcall/apiserver.crt'), 'utf8'))
  assert.equal(leaf && formatName(leaf.issuer), 'CN=rollcall-apiserver-serving-ca-2')
} finally {
  for (const stop of stops.toReversed()) await stop()
  folder.remove()
}
