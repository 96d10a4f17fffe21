import { after, before, test } from 'node:test'
import { type RollcallProcess, temporaryFolder } from '../support/rollcall-process.ts'
import { definitionsAndPolicies } from './deploy.ts'
import { noAssets } from './folder.ts'
import { joinsAndRenews } from './join-with-controller.ts'
import { type KubeApiserver, startKubeApiserver } from './kube-apiserver.ts'
import { startControllerManager } from './kube-controller-manager.ts'
import type { RunningProgram } from './program.ts'

const skip = noAssets('etcd', 'kube-apiserver', 'kube-controller-manager')
const folder = temporaryFolder()
const running: RollcallProcess[] = []
let server: KubeApiserver | undefined
let manager: RunningProgram | undefined
before(async () => {
  if (skip) return
  server = await startKubeApiserver()
  await definitionsAndPolicies(server.admin)
  // All that kubeadm's runs, less what `rollcall controller` does in its place.
  manager = await startControllerManager({
    kubeconfig: await server.pki.kubeconfig(
      'controller-manager',
      server.url,
      'system:kube-controller-manager',
      ['system:masters'],
    ),
    folder: server.folder,
    controllers:
      'namespace,garbagecollector,serviceaccount,bootstrapsigner,tokencleaner,clusterrole-aggregation',
    certificate: server.pki.file('ca.crt'),
    key: server.pki.file('ca.key'),
  })
})
after(async () => {
  for (const program of running.toReversed()) await program.stop()
  await manager?.stop()
  await server?.stop()
  folder.remove()
})

test('on a control plane shaped like kubeadm’s the controller approves and signs, and a node joins and renews', {
  skip,
}, async () => {
  if (!server) throw new TypeError('it was started')
  const { adminKubeconfig: kubeconfig, pki } = server
  const cluster = {
    kubeconfig,
    caCertificate: pki.file('ca.crt'),
    caKey: pki.file('ca.key'),
    folder: folder.path,
  }
  await joinsAndRenews(cluster, running)
})
