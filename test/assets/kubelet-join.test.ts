import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { busybox } from '../support/containerd.ts'
import { eventually } from '../support/eventually.ts'
import { type Kubectl, kubectl, noKubectl } from '../support/kubectl.ts'
import { type RollcallProcess, startRollcall, temporaryFolder } from '../support/rollcall-process.ts'
import { type KubeletMachine, kubeletMachine, noKubelet, quietPod, type RunningKubelet } from './kubelet.ts'

const skip = noKubelet() || noKubectl
const folder = temporaryFolder()
const directory = join(folder.path, 'data')
const node = 'worker-1'
let server: RollcallProcess | undefined
let machine: KubeletMachine | undefined
let kubelet: RunningKubelet
let admin: Kubectl
before(async () => {
  if (skip) return
  server = startRollcall([
    'server',
    '--dir',
    directory,
    '--port',
    '0',
    '--no-dashboard',
    '--cert-lifetime',
    '1h',
  ])
  await server.ready
  admin = kubectl({ kubeconfig: join(directory, 'admin.kubeconfig'), home: folder.path })
  machine = await kubeletMachine()
  machine.manifest('quiet', quietPod('quiet', busybox))
  kubelet = await machine.start({
    node,
    kubeconfig: machine.in('kubelet.kubeconfig'),
    bootstrapKubeconfig: join(directory, 'bootstrap.kubeconfig'),
    clientCaFile: join(directory, 'pki/ca.crt'),
  })
})
after(async () => {
  await machine?.close()
  await server?.stop()
  folder.remove()
})

const ready = 'get node worker-1 -o jsonpath={.status.conditions[?(@.type=="Ready")].status}'
const within = 180_000

test('a stock kubelet joins rollcall server and becomes Ready', { skip }, async () => {
  const isReady = async () => (await admin.run(ready)).stdout === 'True'
  await eventually(`${node} is Ready`, isReady, within)
})

test('it holds both certificates, which its own files show', { skip }, async () => {
  const pair = (kind: string) =>
    eventually(`${kind} is there`, () => {
      try {
        return new X509Certificate(readFileSync(kubelet.in(`pki/${kind}-current.pem`)))
      } catch {
        return undefined
      }
    })
  const [client, serving] = [await pair('kubelet-client'), await pair('kubelet-server')]
  for (const certificate of [client, serving]) assert.match(certificate.subject, /CN=system:node:worker-1/)
  assert.match(
    serving.subjectAltName ?? '',
    new RegExp(`IP Address:${kubelet.address.replaceAll('.', '\\.')}`),
  )
  const requests = await admin.ok('get csr -o jsonpath={.items[*].spec.signerName}')
  assert.match(requests, /kubelet-serving/)
})

test('its static pod’s mirror appears; kubectl logs and exec go through to it', { skip }, async () => {
  const phase = 'get pod quiet-worker-1 -o jsonpath={.status.phase} --ignore-not-found'
  await eventually('the mirror pod runs', async () => (await admin.run(phase)).stdout === 'Running', within)
  assert.equal(await admin.ok('logs quiet-worker-1'), 'it runs\n')
  assert.equal(await admin.ok('exec quiet-worker-1 -- echo through'), 'through\n')
})
