import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { startBesideKubelet } from '../support/beside-kubelet.ts'
import { eventually } from '../support/eventually.ts'
import { kubectl, noKubectl } from '../support/kubectl.ts'
import { runRollcall } from '../support/rollcall-process.ts'
import { kubeletMachine, noKubelet } from './kubelet.ts'

const skip = noKubelet() || noKubectl
const ready = 'get node node-a -o jsonpath={.status.conditions[?(@.type=="Ready")].status}'

/** Its own rotation is off: both certificates are the agent's (docs/guides/beside-a-kubelet.md). */
const config = (serving: string) => ({
  rotateCertificates: false,
  serverTLSBootstrap: false,
  tlsCertFile: serving,
  tlsPrivateKeyFile: serving,
})

for (const mode of ['exec', 'proxy'] as const)
  test(`a stock kubelet beside the agent in ${mode} mode becomes Ready and stays so through a renewal`, {
    skip,
  }, async t => {
    const beside = await startBesideKubelet(mode, { lifetime: '10m' })
    const machine = await kubeletMachine()
    t.after(async () => {
      await machine.close()
      await beside.stop()
    })
    const agent = beside.startAgent(['--server-tls-bootstrap'])
    await agent.ready
    await machine.start({
      node: 'node-a',
      kubeconfig: beside.kubeletKubeconfig,
      clientCaFile: beside.in('server/pki/ca.crt'),
      config: config(join(beside.in('agent'), 'kubelet/kubelet-serving.pem')),
    })
    const admin = kubectl({ kubeconfig: beside.adminKubeconfig, home: beside.in('home') })
    const isReady = async () => (await admin.run(ready)).stdout === 'True'
    await eventually('node-a is Ready', isReady, 180_000)
    const heartbeat = async () =>
      (await admin.ok('get lease node-a -n kube-node-lease -o jsonpath={.spec.renewTime}')).trim()
    const before = await heartbeat()
    const { code, stdout, stderr } = await runRollcall([
      'renew',
      'node-a',
      ...['--kubeconfig', beside.adminKubeconfig],
    ])
    assert.equal(code, 0, stdout + stderr)
    await eventually('the lease goes on', async () => (await heartbeat()) !== before, 60_000)
    assert.ok(await isReady())
  })
