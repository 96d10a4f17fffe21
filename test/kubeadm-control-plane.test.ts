import assert from 'node:assert/strict'
import { readdirSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { ControlPlane } from '../src/agent/control-plane/control-plane.ts'
import { testCa, testTrust } from '../src/agent/control-plane/testing/control-plane-node.ts'
import { idOf } from '../src/agent/control-plane/testing/kubeadm-files.ts'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { seal } from '../src/keys/sealed.ts'
import { Secret } from '../src/keys/secret.ts'
import type { KubeClient } from '../src/kube/client.ts'
import { connectHttps } from '../src/kube/https-transport.ts'
import { silentLog } from '../src/ports.ts'
import { crossSigned } from '../src/rollover/bridge.ts'
import {
  type ControlPlaneOrders,
  controlPlaneAnnotation,
  encodeControlPlaneOrders,
  sealedAbout,
} from '../src/trust/control-plane-orders.ts'
import {
  type ControlPlaneRole,
  controlPlaneReportAnnotation,
  decodeControlPlaneReport,
} from '../src/trust/control-plane-report.ts'
import { encodeTrustRoots } from '../src/trust/trust-roots.ts'
import { decodePem } from '../src/x509/pem.ts'
import { eventually } from './support/eventually.ts'
import { kubeadmMachine } from './support/kubeadm-machine.ts'
import { temporaryFolder } from './support/rollcall-process.ts'

const folder = temporaryFolder()
const stops: (() => Promise<void>)[] = [async () => folder.remove()]
after(async () => {
  for (const stop of stops.toReversed()) await stop()
})

test('by the real disk and real TLS: client and serving CA of a control plane are changed step by step, and back', async () => {
  const now = Math.floor(hostPorts.clock.now() / 1000) * 1000
  const ca = await testCa('kubernetes', 1, 10, now)
  const clientCa = await testCa('rollcall-client-ca-2', 2, 11, now)
  const servingCa = await testCa('rollcall-apiserver-serving-ca-2', 3, 11, now)
  const trust = await testTrust(
    {
      client: [ca, clientCa],
      'apiserver-serving': [ca, servingCa],
      'kubelet-serving': [],
    },
    now,
  )
  const machine = await kubeadmMachine(join(folder.path, 'kubernetes'), ca)
  const rootsPath = join(folder.path, 'trust-roots')
  writeFileSync(rootsPath, encodeTrustRoots(trust.roots))
  const get = async (_: unknown, { name }: { name: string }) => trust.bundles.get(name)
  const stateDirectory = join(folder.path, 'state')
  const agent = new ControlPlane(
    { nodeName: 'cp-1', root: machine.root, stateDirectory, rootsPath },
    {
      ...hostPorts,
      log: silentLog,
      connect: connectHttps,
      net: { http: async () => ({ status: 200, body: 'ok' }) },
      processes: machine.processes,
    },
    { client: { get } as unknown as KubeClient, identity: () => undefined, onReport() {} },
  )
  agent.start()
  stops.push(machine.stop, () => agent.stop())

  const node = { name: 'cp-1', uid: 'uid-1' }
  const annotations: Record<string, string> = {}
  const report = () => decodeControlPlaneReport(agent.annotations()[controlPlaneReportAnnotation])
  let sequence = 0
  async function settles(
    role: ControlPlaneRole,
    orders: Omit<ControlPlaneOrders, 'token' | 'sequence'>,
  ): Promise<void> {
    sequence += 1
    annotations[controlPlaneAnnotation(role)] = encodeControlPlaneOrders({ ...orders, token: 1, sequence })
    agent.seen({ apiVersion: 'v1', kind: 'Node', metadata: { ...node, annotations } })
    await eventually(`${role} settles: ${JSON.stringify(orders)}`, () => {
      const { state, sequence: told } = report()?.roles[role] ?? {}
      return told === sequence && state === 'Settled'
    }).catch(error => assert.fail(`${error.message}: ${JSON.stringify(report()?.roles)}`))
  }
  const sealed = (role: ControlPlaneRole, to: typeof ca) => {
    const key = Buffer.from(report()?.seal ?? '', 'base64')
    const bytes = seal(new Secret(to.keyPem), key, sealedAbout(role, idOf(to), node), hostPorts.random)
    return { [idOf(to)]: Buffer.from(bytes).toString('base64') }
  }
  /** Status that whoever trusts these CAs alone is answered. */
  async function answer(
    certificateAuthority: string,
    tlsServerName = 'kubernetes',
  ): Promise<number | undefined> {
    const transport = connectHttps({
      server: `https://127.0.0.1:${machine.port}`,
      certificateAuthority,
      tlsServerName,
    })
    try {
      return (await transport.request({ method: 'GET', url: '/version', headers: {} })).status
    } catch {
      return undefined
    } finally {
      transport.closeConnections()
    }
  }
  await eventually('the control plane is well', () => report()?.healthy)

  const none = { sealed: {}, crosses: {} }
  const old = idOf(ca)
  await settles('client', { ...none, trust: 3, sign: old, own: old })
  const keys = sealed('client', clientCa)
  await settles('client', { trust: 3, sign: idOf(clientCa), own: idOf(clientCa), sealed: keys, crosses: {} })
  await settles('client', { ...none, trust: 4, sign: idOf(clientCa), own: idOf(clientCa) })

  const cross = await crossSigned({ subject: servingCa.certificate, issuer: ca, random: hostPorts.random })
  const crosses = { [idOf(servingCa)]: Buffer.from(decodePem(cross)[0]?.bytes ?? []).toString('base64') }
  const probes = [old, idOf(servingCa)].map((authority, index) => ({ number: index + 1, authority }))
  const serving = { probes, crosses, sealed: sealed('apiserver-serving', servingCa) }
  const next = idOf(servingCa)
  await settles('apiserver-serving', { ...serving, trust: 3, present: { authority: old, mode: 'old' } })
  assert.deepEqual([await answer(ca.pem), await answer(servingCa.pem)], [200, undefined])
  assert.equal(await answer(servingCa.pem, 'ca-2.probe.rollcall.internal'), 200)
  await settles('apiserver-serving', { ...serving, trust: 3, present: { authority: next, mode: 'bridged' } })
  assert.deepEqual([await answer(ca.pem), await answer(servingCa.pem)], [200, 200])
  await settles('apiserver-serving', { ...serving, trust: 4, present: { authority: next, mode: 'bare' } })
  assert.deepEqual([await answer(ca.pem), await answer(servingCa.pem)], [undefined, 200])
  // The way back has bundles of its own.
  await settles('apiserver-serving', { ...serving, trust: 5, present: { authority: old, mode: 'old' } })
  assert.deepEqual([await answer(ca.pem), await answer(servingCa.pem)], [200, undefined])

  assert.deepEqual(readdirSync(join(stateDirectory, 'step')), [])
  const modes = ['admin.conf', 'pki/rollcall/apiserver.key', `pki/rollcall/ca-client-${idOf(clientCa)}.key`]
  for (const path of modes) assert.equal(statSync(join(machine.root, path)).mode & 0o777, 0o600, path)
})
