import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type KubeNode, type Lease, resources } from '../../kube/types.ts'
import type { RunOrder, Spawn } from '../../ports.ts'
import { plannedBundles, signBundles } from '../../trust/ceremony.ts'
import { encodeOrders, ordersAnnotation } from '../../trust/node-orders.ts'
import { encodeStoredBundle } from '../../trust/stored-bundle.ts'
import { ceremonyTable, day } from '../../trust/testing/ceremony-table.ts'
import { decodeTrustReport, type ReportedTrust, trustReportAnnotation } from '../../trust/trust-report.ts'
import { encodeTrustRoots } from '../../trust/trust-roots.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { onNode, type SimulatedNode, second } from '../testing/simulated-node.ts'
import type { BesideKubeletOptions } from './beside-kubelet.ts'

const rootsPath = '/etc/kubernetes/trust-roots'
const closed = { close: async () => {} }

function beside(mode: 'exec' | 'proxy'): BesideKubeletOptions {
  return {
    mode,
    kubeconfigPath: '/etc/kubernetes/kubelet-own.conf',
    command: '/usr/bin/rollcall',
    socketPath: '/run/rollcall/agent.sock',
    proxyPort: 6444,
    directory: '/etc/kubernetes/kubelet',
    unit: 'kubelet.service',
  }
}

/** systemd with a kubelet in it, as far as files of /proc tell. */
function kubeletOf({ cluster, machine }: SimulatedNode) {
  const ticks = () => 360_000 + Math.round(cluster.clock.monotonic() / 10)
  let started = ticks()
  let restarts = 0
  const files: Record<string, () => string> = {
    '/proc/uptime': () => `${(ticks() / 100).toFixed(2)} 0\n`,
    '/proc/sys/kernel/random/boot_id': () => 'boot-1\n',
    '/proc/4711/stat': () => `4711 (kubelet) S 1 ${'0 '.repeat(17)}${started} 0 0`,
  }
  const disk: typeof machine.disk = {
    ...machine.disk,
    read: async path => {
      const text = files[path]?.()
      return text === undefined ? machine.disk.read(path) : new TextEncoder().encode(text)
    },
  }
  const spawn: Spawn = {
    user: 0,
    start: () => assert.fail(),
    signal: () => assert.fail(),
    async run({ args }: RunOrder) {
      if (args[0] === 'restart') {
        restarts++
        started = ticks() + 1
      }
      return { code: 0, stdout: new TextEncoder().encode('4711\n'), stderr: new Uint8Array() }
    },
  }
  return { disk, spawn, restarts: () => restarts }
}

/** The node with trust roots and the bundle of the CA that its API has, and the Node and Lease of its kubelet. */
async function trusting({ cluster, machine }: SimulatedNode): Promise<void> {
  const { roots, rootSigners } = await ceremonyTable(1)
  const [ca] = parseCertificatesPem(cluster.ca.pem)
  assert.ok(ca)
  const planned = plannedBundles({
    cluster: roots.cluster,
    role: 'apiserver-serving',
    lastGeneration: 0,
    authorities: [ca.raw],
    notBefore: cluster.clock.now() - day,
    notAfter: cluster.clock.now() + 730 * day,
  })
  const [bundle] = await signBundles(planned, rootSigners.slice(0, 2), roots)
  assert.ok(bundle)
  await machine.writeBootstrap()
  await machine.disk.write(rootsPath, encodeTrustRoots(roots), { mode: 0o644 })
  await machine.disk.makeDirectory('/etc/kubernetes/trust', 0o755)
  const path = '/etc/kubernetes/trust/apiserver-serving.json'
  await machine.disk.write(path, encodeStoredBundle(bundle), { mode: 0o644 })
  await cluster.admin.create<KubeNode>(resources.nodes, {
    apiVersion: 'v1',
    kind: 'Node',
    metadata: { name: 'node-a' },
  })
  await cluster.admin.create<Lease>(resources.leases, {
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'node-a', namespace: 'kube-node-lease' },
  })
}

const reported = async ({ lease }: SimulatedNode): Promise<ReportedTrust[]> =>
  decodeTrustReport((await lease()).metadata.annotations?.[trustReportAnnotation]) ?? []

test(
  'K-60: beside a kubelet its own process is reported, not the agent’s, and an order restarts it where it holds less than its file',
  onNode(async node => {
    const { cluster, machine, pass } = node
    await cluster.start()
    await trusting(node)
    const { disk, spawn, restarts } = kubeletOf(node)
    await pass(10 * second)
    const doors = { serveSocket: async () => closed, serveProxy: async () => ({ ...closed, port: 1 }) }
    await machine.start(
      {
        besideKubelet: beside('exec'),
        trustRootsPath: rootsPath,
        instance: { pid: 1, startTicks: 1 },
        nodeInfo: { bootID: 'boot-1' },
      },
      { disk, spawn, beside: doors },
    )
    await pass(30 * second)
    const before = await reported(node)
    assert.deepEqual(
      before.map(({ subject, generation }) => [subject, generation]),
      [['agent', 1]],
      'it started before the file was there',
    )
    const orders = { token: 1, sequence: 1, orders: [{ kind: 'restart-kubelet' as const, notBefore: 0 }] }
    const annotations = { [ordersAnnotation('apiserver-serving')]: encodeOrders(orders) }
    await cluster.admin.patch<KubeNode>(resources.nodes, { name: 'node-a' }, 'merge', {
      metadata: { annotations },
    })
    await pass(30 * second)
    assert.equal(restarts(), 1)
    const kubelet = (await reported(node)).find(({ subject }) => subject === 'kubelet')
    assert.deepEqual(
      [kubelet?.generation, kubelet?.evidence, kubelet?.instance.pid, kubelet?.instance.bootID],
      [1, 'newer-process', 4711, 'boot-1'],
    )
  }),
)

test(
  'through the proxy the kubelet trusts what is in the agent’s memory, and no order restarts it',
  onNode(async node => {
    const { cluster, machine, pass } = node
    await cluster.start()
    await trusting(node)
    const { disk, spawn, restarts } = kubeletOf(node)
    const doors = { serveSocket: async () => closed, serveProxy: async () => ({ ...closed, port: 1 }) }
    await machine.start(
      { besideKubelet: beside('proxy'), trustRootsPath: rootsPath, instance: { pid: 1, startTicks: 1 } },
      { disk, spawn, beside: doors },
    )
    await pass(30 * second)
    const reports = await reported(node)
    assert.deepEqual(
      reports.map(({ subject, generation, evidence, instance }) => [
        subject,
        generation,
        evidence,
        instance.pid,
      ]),
      [
        ['agent', 1, 'memory', 1],
        ['kubelet', 1, 'memory', 1],
      ],
    )
    assert.equal(restarts(), 0)
  }),
)
