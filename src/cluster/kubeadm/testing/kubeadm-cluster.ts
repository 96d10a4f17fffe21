/** Three control-plane nodes of kubeadm, each with its kube-apiserver before one embedded API, agents and the controller. */
import { AgentTrust } from '../../../agent/agent-trust.ts'
import { readKubeconfig } from '../../../agent/control-plane/kubeconfig-text.ts'
import { issueLocally } from '../../../agent/control-plane/local-pairs.ts'
import {
  type ControlPlaneNode,
  controlPlaneNode,
  start,
  testCa,
} from '../../../agent/control-plane/testing/control-plane-node.ts'
import type { StaticPods } from '../../../agent/control-plane/testing/static-pods.ts'
import { renewLease } from '../../../agent/node-lease.ts'
import { RollcallError } from '../../../errors.ts'
import { asynchronousDisk, MachineDisk } from '../../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../../fleet/simulated/random.ts'
import { generateSigner, loadSigner } from '../../../keys/private-key.ts'
import type { Secret } from '../../../keys/secret.ts'
import { createClient, isStatus, type KubeClient } from '../../../kube/client.ts'
import { type CARotationObject, caRotation } from '../../../kube/rollcall/ca-rotation.ts'
import type { TrustRole } from '../../../kube/rollcall/trust-bundle.ts'
import type { Connect, ConnectionConfig, Transport } from '../../../kube/transport.ts'
import { type ConfigMap, type KubeNode, type Lease, type Namespace, resources } from '../../../kube/types.ts'
import { type Log, silentLog } from '../../../ports.ts'
import { startRolloverController } from '../../../rollover/controller.ts'
import { type RotationObjects, rotationStore } from '../../../rollover/rotation-store.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../../testing/embedded-cluster.ts'
import { json } from '../../../testing/in-memory-transport.ts'
import { seededRandom } from '../../../testing/seeded-random.ts'
import type { ControlPlaneRole } from '../../../trust/control-plane-report.ts'
import { probeName } from '../../../trust/node-orders.ts'
import { publishedRootCa, rootCaName } from '../../../trust/root-ca.ts'
import { parseCertificatesPem, verifyChain } from '../../../x509/certificate.ts'
import { nameOf } from '../../../x509/name.ts'
import { publishClusterInfo } from '../../cluster-info.ts'
import { publishClientCas } from '../../extension-authentication.ts'
import { CaStore } from '../../rollover/ca-store.ts'
import { holdCeremony } from '../../rollover/signed-bundles.ts'
import { KubeadmAdapter } from '../kubeadm-adapter.ts'
import type { KubeadmControl } from '../kubeadm-control.ts'

export interface KubeadmNodeUnderTest extends ControlPlaneNode {
  name: string
  address: string
  trust: AgentTrust
  client: KubeClient
  lease?: Lease
  /** What its Lease says in place of what its agents say. */
  lies?: (annotations: Record<string, string>) => Record<string, string>
  pair: { certificate: string; key: Secret }
}

export interface KubeadmCluster {
  cluster: EmbeddedCluster
  cas: CaStore
  nodes: readonly KubeadmNodeUnderTest[]
  control: KubeadmControl
  /** Requests of agents that found nobody they trust, or were not let in. */
  lost: string[]
  /** Most control planes that lacked a component at one time, since a rotation was begun. */
  mostDown(): number
  /** Components that were started anew, by node. */
  restarts(): Record<string, StaticPods['starts']>
  begin(role: ControlPlaneRole, spec?: Partial<CARotationObject['spec']>): Promise<void>
  rotation(role: ControlPlaneRole): Promise<CARotationObject>
  change(role: ControlPlaneRole, spec: Partial<CARotationObject['spec']>): Promise<void>
  resume(role: ControlPlaneRole): Promise<void>
  /** Somebody who has not begun it says so. */
  acknowledge(role: ControlPlaneRole, consumer: string): Promise<void>
  /** Time passes until it is so; throws after so many seconds, telling where the rotation stands. */
  until(role: ControlPlaneRole, holds: (phase: string) => boolean, seconds?: number): Promise<void>
  pass(seconds: number): Promise<void>
  /** Another process of the controller. */
  restartController(): Promise<void>
  stop(): Promise<void>
}

const names = ['cp-1', 'cp-2', 'cp-3']
const timings = { bridgeSoak: '2s', quiet: '1s', jitter: '1s', wave: '120s', bridgeReplica: '120s' }

export async function kubeadmCluster(log: Log = silentLog): Promise<KubeadmCluster> {
  const cluster = await startEmbeddedCluster()
  const { clock, admin } = cluster
  clock.step(start - clock.now())
  const ca = await testCa('kubernetes', 1)
  const random = new SeededRandom('kubeadm')
  const disk = asynchronousDisk(new MachineDisk(random.stream('controller'), clock), async call => call())
  const cas = new CaStore({ directory: '/ca', first: ca, disk, clock, random: seededRandom(21) })
  await cas.load()
  const signer = generateSigner('Ed25519', seededRandom(99))
  const roots = { cluster: 'kubeadm', version: 1, threshold: 1, keys: [signer.publicKey] }
  const nodes: KubeadmNodeUnderTest[] = []
  const lost: string[] = []
  let mostDown = 0

  const connect: Connect = config => {
    const kubelet = nodes.find(({ address }) => config.server === `https://${address}:10250`)
    if (kubelet) return kubeletOf(kubelet, config)
    const node = nodes.find(({ address }) => config.server === `https://${address}:6443`)
    if (!node) throw new RollcallError('API_UNREACHABLE', `nobody answers at ${config.server}`)
    return node.pods.connect(config)
  }

  /** It reads its clientCAFile again, which its agent keeps. */
  function kubeletOf({ trust }: KubeadmNodeUnderTest, { clientCertificate }: ConnectionConfig): Transport {
    const roots = parseCertificatesPem(trust.anchors('client') ?? ca.pem)
    const chain = parseCertificatesPem(clientCertificate?.certificate ?? '')
    const { ok } = verifyChain(chain, roots, { now: clock.now(), usage: 'clientAuth' })
    return { request: async () => json(ok ? 403 : 401, {}), closeConnections() {} }
  }

  for (const [index, name] of names.entries()) nodes.push(await addNode(name, `192.0.2.${11 + index}`))

  async function addNode(name: string, address: string): Promise<KubeadmNodeUnderTest> {
    const subject = nameOf({ commonName: `system:node:${name}`, organizations: ['system:nodes'] })
    const issue = (by: Parameters<typeof issueLocally>[0]) =>
      issueLocally(by, { subject, usage: 'clientAuth' }, { now: clock.now(), random: seededRandom(5) })
    const pair = await issue(ca)
    const way = (more: Partial<ConnectionConfig> = {}): ConnectionConfig => ({
      // As by a load balancer: to one that is there.
      server: `https://${[node, ...nodes].find(({ pods }) => pods.allRun())?.address}:6443`,
      certificateAuthority: node.trust.anchors('apiserver-serving') ?? ca.pem,
      clientCertificate: node.pair,
      ...more,
    })
    const client = createClient({
      async request(request) {
        try {
          const answer = await connect(way()).request(request)
          if (answer.status === 401) lost.push(`${name} was not let in`)
          return answer
        } catch (error) {
          lost.push(`${name}: ${error instanceof Error ? error.message : error}`)
          throw error
        }
      },
      closeConnections() {},
    })
    await admin.create<KubeNode>(resources.nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
    })
    const { metadata } = await admin.get<KubeNode>(resources.nodes, { name })
    await admin.update<KubeNode>(
      resources.nodes,
      {
        apiVersion: 'v1',
        kind: 'Node',
        metadata,
        status: {
          addresses: [{ type: 'InternalIP', address }],
          conditions: [{ type: 'Ready', status: 'True' }],
          daemonEndpoints: { kubeletEndpoint: { Port: 10_250 } },
        },
      } as KubeNode,
      { subresource: 'status' },
    )
    const made = await controlPlaneNode({
      name,
      address,
      ca,
      trust: { roots, bundles: new Map() },
      clock,
      patience: 20_000,
      client,
      identity: () => ({ chain: node.pair.certificate, signer: loadSigner(node.pair.key) }),
      behind: async (request, user, groups) => (await cluster.transportAs(user, ...groups)).request(request),
    })
    const trust = new AgentTrust({
      disk: asynchronousDisk(made.machine, async call => call()),
      clock,
      log,
      rootsPath: '/var/lib/rollcall/trust-roots',
      directory: '/var/lib/rollcall/trust',
      client,
      instance: { bootID: `boot-${name}`, pid: 100, startTicks: 1 },
      onAnchors() {},
      onReport() {},
      clusterInfo: async () => ({}),
      async probe(authority) {
        try {
          const { status } = await connect(way({ tlsServerName: probeName(authority) })).request({
            method: 'GET',
            url: '/version',
            headers: {},
          })
          return status === 200
        } catch {
          return false
        }
      },
      renew(role, issuer) {
        if (role !== 'client') return
        // The leader among the controller managers signs what is asked for.
        const [signing] = parseCertificatesPem(leader()?.signing ?? '')
        const generation = signing && cas.generationOf('client', signing.raw)
        const by = generation === undefined ? undefined : cas.authority('client', generation)
        if (by && idOf(by) === issuer) void issue(by).then(next => Object.assign(node, { pair: next }))
      },
      holds: role => (role === 'client' ? issuerOf(node.pair.certificate) : undefined),
    })
    made.pods.needs = 3000
    const node: KubeadmNodeUnderTest = Object.assign(made, { name, address, trust, client, pair })
    await trust.load()
    return node
  }

  const control: KubeadmControl = {
    nodes: names,
    port: 6443,
    cas,
    roots: { roots, signer },
    client: admin,
    connect,
    // By kubeadm's kubeconfig of the first node, read as it is now.
    connection: { trusts: () => own().authorities, presents: () => own().certificate },
    leader: async () => ({ identity: 'controller', token: leads }),
    leaves: async () => [],
    clock,
    random: seededRandom(8),
    log,
  }
  let leads = 1
  const own = () => {
    const path = '/etc/kubernetes/admin.conf'
    return readKubeconfig(nodes[0]?.text(path) ?? '', path)
  }
  for (const role of ['apiserver-serving', 'client'] as const)
    await holdCeremony(role, [1], {
      client: admin,
      reader: cluster.reader,
      roots: control.roots,
      cas,
      now: clock.now(),
    })

  await publishClusterInfo(admin, 'https://192.0.2.11:6443', ca.pem)

  const rotations = () => cluster.reader.list<CARotationObject>(caRotation.ref)
  const objects: RotationObjects & { list(): Promise<readonly CARotationObject[]> } = {
    list: async () => rotations(),
    get: name => admin.get<CARotationObject>(caRotation.ref, { name }),
    async putStatus(rotation) {
      try {
        await admin.update(caRotation.ref, rotation, { subresource: 'status' })
        return true
      } catch (error) {
        if (isStatus(error, 'Conflict')) return false
        throw error
      }
    },
  }
  let controller = startController()

  function startController() {
    const adapters = new Map<TrustRole, KubeadmAdapter>(
      (['apiserver-serving', 'client'] as const).map(role => [role, new KubeadmAdapter(control, role)]),
    )
    return startRolloverController({
      objects,
      adapterFor: role => adapters.get(role) as KubeadmAdapter,
      after: role =>
        Math.max(
          0,
          ...rotations().map(({ spec, status }) => (spec.role === role ? (status?.sequence ?? 0) : 0)),
        ),
      async rest() {
        for (const [role, adapter] of adapters) {
          const { metadata, spec, status } = rotations().find(one => one.spec.role === role) ?? {}
          if (!metadata || !spec || status?.phase !== 'Done') continue
          const { plan } = await rotationStore(metadata.name, {
            objects,
            after: () => 0,
            now: () => clock.now(),
          }).read()
          await adapter.steady(plan)
        }
      },
      onStep() {},
      pace: { busy: 1000, idle: 1000 },
      clock,
      log,
    })
  }

  /** What kubelets, controller managers and API servers do by themselves. */
  async function beat(): Promise<void> {
    mostDown = Math.max(mostDown, nodes.filter(({ pods }) => !pods.allRun()).length)
    for (const node of nodes) await beatOf(node)
    await publish()
  }

  async function beatOf(node: KubeadmNodeUnderTest): Promise<void> {
    const { name, client, trust, agent } = node
    try {
      const shown = await client.get<KubeNode>(resources.nodes, { name })
      trust.seen(shown)
      agent.seen(shown)
      const facts = {
        nodeName: name,
        nodeUid: shown.metadata.uid ?? '',
        durationSeconds: 40,
        annotations: (node.lies ?? (said => said))({ ...trust.annotations(), ...agent.annotations() }),
      }
      node.lease = await renewLease(
        client,
        node.lease,
        facts,
        () => clock.now(),
        new AbortController().signal,
      )
    } catch (error) {
      if (!(error instanceof RollcallError)) throw error
    }
  }

  /** The first controller manager that runs. */
  function leader() {
    return nodes.map(({ pods }) => pods.manager()).find(manager => manager !== undefined)
  }

  async function publish(): Promise<void> {
    const rootCa = leader()?.rootCa
    if (rootCa === undefined) return
    for (const { metadata } of cluster.reader.list<Namespace>(resources.namespaces)) {
      const current = cluster.reader.get<ConfigMap>(resources.configMaps, rootCaName, metadata.name)
      const next = publishedRootCa(metadata.name, rootCa, current)
      if (next)
        await (current ? admin.update(resources.configMaps, next) : admin.create(resources.configMaps, next))
    }
    for (const { pods } of nodes) {
      const judgedBy = pods.judgedBy()
      if (judgedBy !== '') await publishClientCas(admin, judgedBy, clock.now())
    }
  }

  async function pass(seconds: number): Promise<void> {
    for (let second = 0; second < seconds; second += 1) {
      await beat()
      for (let half = 0; half < 2; half += 1) {
        await clock.advance(500)
        for (let turn = 0; turn < 30; turn += 1) await new Promise(resolve => setImmediate(resolve))
      }
    }
  }

  const nameOfRotation = (role: ControlPlaneRole) => `${role}-2`
  const rotation = (role: ControlPlaneRole) =>
    admin.get<CARotationObject>(caRotation.ref, { name: nameOfRotation(role) })

  return {
    cluster,
    cas,
    nodes,
    control,
    lost,
    mostDown: () => mostDown,
    restarts: () =>
      Object.fromEntries(
        nodes.map(({ name, pods: { starts } }) => {
          const anew = Object.entries(starts).map(([component, times]) => [component, times - 1] as const)
          return [name, Object.fromEntries(anew) as StaticPods['starts']]
        }),
      ),
    rotation,
    pass,
    async begin(role, spec = {}) {
      // Before it all are well, and were started once.
      await pass(3)
      mostDown = 0
      await admin.create<CARotationObject>(caRotation.ref, {
        apiVersion: 'rollcall.dev/v1alpha1',
        kind: 'CARotation',
        metadata: { name: nameOfRotation(role) },
        spec: {
          role,
          reason: 'Scheduled',
          from: 1,
          to: 2,
          author: 'admin',
          policy: {
            timings,
            bridge: role === 'client' ? 'None' : 'CrossSigned',
            minimumProof: { ControllerManager: 2, Scheduler: 2 },
          },
          ...spec,
        },
      })
    },
    async change(role, spec) {
      await admin.patch(caRotation.ref, { name: nameOfRotation(role) }, 'merge', { spec })
    },
    async resume(role) {
      const { status } = await rotation(role)
      const spec = { resume: status?.sequence ?? 0 }
      await admin.patch(caRotation.ref, { name: nameOfRotation(role) }, 'merge', { spec })
    },
    async acknowledge(role, consumer) {
      const anna = await cluster.as('anna', 'system:masters')
      const at = new Date(clock.now()).toISOString()
      const acknowledgements = [{ consumer, by: 'anna', reason: 'I know', at }]
      await anna.patch(caRotation.ref, { name: nameOfRotation(role) }, 'merge', {
        spec: { acknowledgements },
      })
    },
    async until(role, holds, seconds = 240) {
      for (let second = 0; second < seconds; second += 1) {
        const { status } = await rotation(role)
        if (holds(status?.phase ?? '')) return
        await pass(1)
      }
      const { status } = await rotation(role)
      throw new Error(
        `${status?.phase} after ${seconds} s: ${JSON.stringify(status?.gates)} ${status?.blockers?.join('; ')}`,
      )
    },
    async restartController() {
      await controllerStopped(controller.stop())
      leads += 1
      controller = startController()
    },
    async stop() {
      await controllerStopped(controller.stop())
      for (const { agent, trust } of nodes) await Promise.all([agent.stop(), trust.stop()])
      await cluster.close()
    },
  }

  /** Work that is under way waits for the clock. */
  async function controllerStopped(stopping: Promise<void>): Promise<void> {
    let stopped = false
    void stopping.then(() => {
      stopped = true
    })
    while (!stopped) {
      await clock.advance(100)
      await new Promise(resolve => setImmediate(resolve))
    }
  }
}

function idOf({ certificate }: { certificate: { subjectKeyIdentifier?: Uint8Array } }): string {
  return Buffer.from(certificate.subjectKeyIdentifier ?? []).toString('hex')
}

function issuerOf(pem: string): string | undefined {
  const [leaf] = parseCertificatesPem(pem)
  return leaf?.authorityKeyIdentifier && Buffer.from(leaf.authorityKeyIdentifier).toString('hex')
}
