/** One control-plane node on a simulated disk, with an agent that can be killed at any operation of the disk. */
import { asynchronousDisk, MachineDisk } from '../../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../../fleet/simulated/random.ts'
import { generateSigner } from '../../../keys/private-key.ts'
import { selfSignedCa } from '../../../keys/self-signed.ts'
import type { Signer } from '../../../keys/signer.ts'
import type { KubeClient } from '../../../kube/client.ts'
import { type TrustBundleObject, type TrustRole, trustRoles } from '../../../kube/rollcall/trust-bundle.ts'
import type { KubeNode } from '../../../kube/types.ts'
import { type Disk, silentLog } from '../../../ports.ts'
import { type Authority, authorityOf } from '../../../sign/authority.ts'
import { createManualClock, type ManualClock } from '../../../testing/manual-clock.ts'
import { seededRandom } from '../../../testing/seeded-random.ts'
import { bundleObject } from '../../../trust/bundle-object.ts'
import { plannedBundles, signBundles } from '../../../trust/ceremony.ts'
import {
  type ControlPlaneOrders,
  controlPlaneAnnotation,
  encodeControlPlaneOrders,
} from '../../../trust/control-plane-orders.ts'
import {
  type ControlPlaneReport,
  type ControlPlaneRole,
  controlPlaneReportAnnotation,
  decodeControlPlaneReport,
} from '../../../trust/control-plane-report.ts'
import { encodeTrustRoots, type TrustRoots } from '../../../trust/trust-roots.ts'
import { ControlPlane } from '../control-plane.ts'
import { idOf, kubeadmFiles } from './kubeadm-files.ts'
import { type Behind, StaticPods } from './static-pods.ts'

export const day = 86_400_000
export const start = Date.parse('2026-03-01T12:00:00Z')

export type TestCa = Authority & { pem: string; keyPem: string }

/** An Ed25519 CA from a seed, valid from a day before `at` (milliseconds since the epoch). */
export async function testCa(commonName: string, seed: number, years = 10, at = start): Promise<TestCa> {
  const random = seededRandom(seed)
  const signer = generateSigner('Ed25519', random)
  const times = { notBefore: at - day, notAfter: at + years * 365 * day }
  const pem = await selfSignedCa({ commonName, signer, random, ...times })
  return { ...authorityOf(pem, signer), pem, keyPem: signer.exportPem().reveal() }
}

export interface TestTrust {
  roots: TrustRoots
  bundles: Map<string, TrustBundleObject>
}

/** One root has signed for the change from the first to the second CA of each role: steady, wide, narrow, wide, narrow. */
export async function testTrust(
  authorities: Record<TrustRole, readonly TestCa[]>,
  at = start,
): Promise<TestTrust> {
  const root = generateSigner('Ed25519', seededRandom(99))
  const roots = { cluster: 'kubeadm', version: 1, threshold: 1, keys: [root.publicKey] }
  const bundles = new Map<string, TrustBundleObject>()
  for (const role of trustRoles) {
    const [first, ...others] = authorities[role].map(({ certificate }) => certificate.raw)
    if (!first) continue
    const order = { cluster: roots.cluster, role, notBefore: at - day, notAfter: at + 3000 * day }
    const steady = plannedBundles({ ...order, lastGeneration: 0, authorities: [first] })
    const more = plannedBundles({ ...order, lastGeneration: 1, authorities: [first, ...others] })
    for (const bundle of await signBundles([...steady, ...more], [root], roots))
      bundles.set(`${role}-${bundle.generation}`, bundleObject(bundle, bundle.purpose))
  }
  return { roots, bundles }
}

export interface ControlPlaneNode {
  clock: ManualClock
  machine: MachineDisk
  pods: StaticPods
  agent: ControlPlane
  /** The Node as it is shown to the agent. */
  order(
    role: ControlPlaneRole,
    orders: Partial<ControlPlaneOrders> & { sequence: number; trust: number },
  ): void
  report(): ControlPlaneReport
  text(path: string): string
  /** All below /etc/kubernetes, but what the agent keeps of its own. */
  files(): Record<string, string>
  /** Another process of the agent, on what is on the disk. */
  restart(stateDirectory?: string): void
  /** Its CA key is on this node. */
  hold(role: ControlPlaneRole, authority: TestCa): void
  /** The agent is killed after as many operations of the disk; Infinity: never. */
  life: { killAfter: number; operations: number }
  pass(milliseconds: number): Promise<void>
}

export interface NodeOptions {
  name?: string
  address?: string
  ca: TestCa
  trust: TestTrust
  clock?: ManualClock
  behind?: Behind
  /** Absent: TrustBundles alone can be read. */
  client?: KubeClient
  identity?(): { chain: string; signer: Signer }
  onReport?(): void
  apiIsDown?: () => boolean
  seed?: string
  /** Milliseconds; default five minutes. */
  patience?: number
}

export async function controlPlaneNode(options: NodeOptions): Promise<ControlPlaneNode> {
  const { name = 'cp-1', address = '192.0.2.11', ca, trust, seed = name } = options
  const clock = options.clock ?? createManualClock(start)
  const random = new SeededRandom(seed)
  const machine = new MachineDisk(random.stream('disk'), clock)
  for (const folder of ['pki', 'manifests']) machine.makeDirectory(`/etc/kubernetes/${folder}`, 0o755)
  machine.makeDirectory('/var/lib/rollcall', 0o700)
  const files = await kubeadmFiles({ name, address, ca, now: start, random: seededRandom(3) })
  for (const [path, text] of Object.entries(files))
    machine.write(`/etc/kubernetes/${path}`, text, {
      mode: path.endsWith('.crt') ? 0o644 : 0o600,
      sync: true,
    })
  machine.write('/var/lib/rollcall/trust-roots', encodeTrustRoots(trust.roots), { mode: 0o644, sync: true })
  for (const folder of [
    '/etc/kubernetes',
    '/etc/kubernetes/pki',
    '/etc/kubernetes/manifests',
    '/var/lib/rollcall',
  ])
    machine.syncDirectory(folder)
  const pods = new StaticPods(
    machine,
    () => clock.now(),
    options.behind ?? (async () => ({ status: 200, headers: {}, body: new Uint8Array() })),
  )
  const annotations: Record<string, string> = {}
  const life = { killAfter: Number.POSITIVE_INFINITY, operations: 0 }
  const node: ControlPlaneNode = {
    clock,
    machine,
    pods,
    life,
    agent: startAgent(),
    order(role, orders) {
      const whole = { token: 1, sealed: {}, crosses: {}, ...orders }
      annotations[controlPlaneAnnotation(role)] = encodeControlPlaneOrders(whole)
      node.agent.seen(shown())
    },
    report() {
      const report = decodeControlPlaneReport(node.agent.annotations()[controlPlaneReportAnnotation])
      if (!report) throw new TypeError('no report')
      return report
    },
    text: path => new TextDecoder().decode(machine.read(path)),
    files: () => tree(machine, '/etc/kubernetes'),
    restart(stateDirectory) {
      node.agent = startAgent(stateDirectory)
      if (!options.client && !options.apiIsDown?.()) node.agent.seen(shown())
    },
    hold(role, authority) {
      machine.makeDirectory('/etc/kubernetes/pki/rollcall', 0o755)
      const path = `/etc/kubernetes/pki/rollcall/ca-${role}-${idOf(authority)}`
      machine.write(`${path}.crt`, authority.pem, { mode: 0o644, sync: true })
      machine.write(`${path}.key`, authority.keyPem, { mode: 0o600, sync: true })
      for (const folder of ['/etc/kubernetes/pki', '/etc/kubernetes/pki/rollcall'])
        machine.syncDirectory(folder)
    },
    async pass(milliseconds) {
      for (let left = milliseconds; left > 0; left -= 500) {
        await clock.advance(500)
        for (let turn = 0; turn < 4; turn += 1) await new Promise(resolve => setImmediate(resolve))
      }
    },
  }
  return node

  function shown(): KubeNode {
    return { apiVersion: 'v1', kind: 'Node', metadata: { name, uid: `uid-${name}`, annotations } }
  }

  function startAgent(stateDirectory = '/var/lib/rollcall/control-plane'): ControlPlane {
    const agent = new ControlPlane(
      {
        nodeName: name,
        root: '/etc/kubernetes',
        stateDirectory,
        rootsPath: '/var/lib/rollcall/trust-roots',
        ...(options.patience !== undefined && { patience: options.patience }),
      },
      {
        clock,
        disk: mortal(machine),
        random: random.stream('agent'),
        log: silentLog,
        connect: config => pods.connect(config),
        net: { http: pods.http },
        processes: pods,
      },
      {
        client: options.client ?? bundleClient(trust, options.apiIsDown),
        identity: () => options.identity?.(),
        onReport: () => options.onReport?.(),
      },
    )
    agent.start()
    return agent
  }

  /** The disk of a process that dies at an operation: that one and all later ones are never answered. */
  function mortal(disk: MachineDisk): Disk {
    return asynchronousDisk(disk, async call => {
      if (life.operations >= life.killAfter) return new Promise<never>(() => {})
      life.operations += 1
      return call()
    })
  }
}

function bundleClient({ bundles }: TestTrust, isDown: () => boolean = () => false): KubeClient {
  const get = async (_: unknown, { name }: { name: string }) => {
    const found = isDown() ? undefined : bundles.get(name)
    if (!found) throw new Error('the API is down')
    return found
  }
  return { get } as unknown as KubeClient
}

function tree(disk: MachineDisk, directory: string): Record<string, string> {
  const found: Record<string, string> = {}
  for (const name of disk.list(directory)) {
    const path = `${directory}/${name}`
    if (disk.stat(path).kind === 'directory') Object.assign(found, tree(disk, path))
    else found[path] = new TextDecoder().decode(disk.read(path))
  }
  return found
}
