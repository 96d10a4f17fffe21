import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Access } from '../apiserver/access/access.ts'
import { createTokenIssuer } from '../apiserver/access/authentication/service-account/token-issuer.ts'
import { completingWrites } from '../apiserver/access/bootstrap-policy/reconcile.ts'
import { reconcileBootstrapPolicy } from '../apiserver/access/bootstrap-policy.ts'
import { createAccess } from '../apiserver/access/create-access.ts'
import type { Api } from '../apiserver/api.ts'
import { createApi } from '../apiserver/create-api.ts'
import { putDefinitions } from '../apiserver/custom/put-definitions.ts'
import { type RunningServer, serve } from '../apiserver/http/server.ts'
import { createApiMetrics } from '../apiserver/metrics/prometheus.ts'
import { createObjectReader } from '../apiserver/object-reader.ts'
import type { ObjectReader } from '../apiserver/reader.ts'
import { allResources } from '../apiserver/resources/index.ts'
import { attributesOf, subjectOf } from '../apiserver/resources/review-rules.ts'
import { openSqliteStore } from '../apiserver/storage/sqlite-store.ts'
import type { Store } from '../apiserver/storage/store.ts'
import { kubeadmAddressTypes } from '../apiserver/tunnel/kubelet-address.ts'
import { createTunnelMetrics } from '../apiserver/tunnel/tunnel-metrics.ts'
import { createTunnels } from '../apiserver/tunnel/tunnels.ts'
import type { RunningControllers } from '../controller/options.ts'
import { startControllers } from '../controller/start-controllers.ts'
import { dashboardDoor } from '../dashboard/dashboard.ts'
import { followLedger } from '../dashboard/fleet/known-leaves.ts'
import type { Signer } from '../keys/signer.ts'
import type { KubeClient } from '../kube/client.ts'
import type { CertificatePolicySpec } from '../kube/rollcall/certificate-policy/spec.ts'
import { rollcallKinds } from '../kube/rollcall/index.ts'
import { signerNames } from '../kube/types.ts'
import type { Clock, Disk, Log, Random } from '../ports.ts'
import type { LastingLedger } from '../sign/ledger.ts'
import { type ServedLedger, servedLedgerPath } from '../sign/served-ledger.ts'
import { rootCaName } from '../trust/root-ca.ts'
import { publishApiService } from './api-service.ts'
import { publishPolicy } from './approval-policy.ts'
import { withAttestation } from './attestation.ts'
import { openAuditLog } from './audit-log.ts'
import { ensureBootstrapKubeconfig } from './bootstrap-kubeconfig.ts'
import { publishClusterInfo } from './cluster-info.ts'
import type { DataDirectory } from './data-directory.ts'
import { publishClientCas } from './extension-authentication.ts'
import { identities } from './identities.ts'
import { loopbackClient } from './loopback-client.ts'
import { openPki, type Pki } from './pki.ts'
import { startRepeatedWork } from './repeated-work.ts'
import { startEmbeddedRollover } from './rollover/embedded-rollover.ts'
import type { EmbeddedTrust } from './rollover/embedded-trust.ts'
import { roleOfSigner } from './rollover/leaf-holders.ts'
import { openTrust } from './rollover/open-trust.ts'
import { type OwnCredentials, ownCredentials } from './rollover/own-credentials.ts'
import { watchedHealth } from './rollover/request-health.ts'
import { witnessed } from './rollover/witnessed-access.ts'
import { reconcilePolicy, seed, storedPolicy } from './seed.ts'
import { attestationSeeds, controllersPolicy, kubeadmBindings, seedNamespaces } from './seed-objects.ts'
import { openSqliteLedger, type SqliteLedger } from './sqlite-ledger.ts'
import { startDashboard } from './start-dashboard.ts'

export interface ControlPlaneOptions {
  directory: DataDirectory
  /** 0: any free one. */
  port: number
  /** Address to listen on. */
  bind: string
  certificateLifetimeSeconds: number
  /** The key of the cluster's CA where it lies elsewhere; absent: in `D/pki/ca.key`. */
  caKey?: Signer
  /** Of the CertificatePolicy that is created where there is none. Absent: the API alone. */
  policy?: CertificatePolicySpec
  /** Where its page is served on 127.0.0.1; 0: any free port. Absent: there is no dashboard. */
  dashboard?: { port: number }
  clock: Clock
  random: Random
  disk: Disk & Required<Pick<Disk, 'append'>>
  log: Log
}

export interface ControlPlane {
  /** E.g. `https://127.0.0.1:6443`. */
  server: string
  pki: Pki
  /** As the cluster's administrator would, from inside. */
  client: KubeClient
  stop(): Promise<void>
}

/**
 * The embedded control plane: storage, API over TLS and, with a policy, the controllers. Writes the files of `--dir`.
 * Rejects with PORT_IN_USE, DIRECTORY_UNUSABLE, STORAGE_FAILED or KEY_MISMATCH and leaves nothing running.
 */
export async function startControlPlane(options: ControlPlaneOptions): Promise<ControlPlane> {
  const cleanups: Cleanups = []
  const stop = async () => {
    for (const cleanup of cleanups.splice(0).reverse()) await cleanup()
  }
  try {
    return await start(options, cleanups, stop)
  } catch (error) {
    await stop()
    throw error
  }
}

/** What is undone at the end, the last first. */
type Cleanups = (() => Promise<void> | void)[]

async function start(
  options: ControlPlaneOptions,
  cleanups: Cleanups,
  stop: () => Promise<void>,
): Promise<ControlPlane> {
  const { directory, clock, random, disk, log, caKey } = options
  const ports = { disk, clock, random }
  const pkiOptions = {
    directory: directory.pki,
    addresses: [options.bind],
    ...(caKey && { caKey }),
    ...ports,
  }
  const opening = openSqliteStore({ path: directory.database, clock, disk, log })
  // Also when the PKI cannot be used: an open store keeps the process alive. Why it cannot be opened is thrown below.
  cleanups.push(() => opening.then(store => store.close()).catch(() => {}))
  const [pki, store] = await Promise.all([openPki(pkiOptions), opening])
  await putDefinitions(rollcallKinds, { store, clock, random })
  const metrics = new Registry()
  // Looking at the event loop a hundred times a second, prom-client's default, would keep an idle machine awake.
  collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: 100 })

  const held: Held = {}
  const { api, access, reader, opened } = openApi(store, pki, metrics, options, cleanups, held)
  const trusted = await openTrust({
    ...options,
    root: directory.root,
    pki,
    reader,
    addresses: [options.bind],
  })
  const { trust, cas } = trusted
  held.trust = trust
  const follow = () => access.setClientCertificateAuthorities(trust.judgedBy('client'))
  follow()
  trust.onApplied(follow)
  const loopback = { api, ca: trust.signing('client') ?? pki.ca, clock, random }
  const client = await loopbackClient(identities.apiserver, loopback)
  const door = dashboardDoor(api)
  const health = watchedHealth(door.api, clock)
  const served = await withAttestation(health.api, loopback, options, metrics)
  const running = await listen(served, pki, trust, options, cleanups)
  const server = `https://${options.bind.includes(':') ? `[${options.bind}]` : options.bind}:${running.port}`
  await seedCluster(client, reader, { server, port: running.port, trust }, options)
  opened(server)

  const controllersClient = await loopbackClient(identities.controllers, loopback)
  const own = await ownCredentials({
    ...options,
    trust,
    pki,
    issuerOf: leaf => cas.issuerOf('client', leaf),
    loopbacks: { 'loopback/apiserver': client, 'loopback/controllers': controllersClient },
    server,
    adminKubeconfig: directory.adminKubeconfig,
  })
  await own.writeAdminKubeconfig()
  const writeBootstrapKubeconfig = await keepBootstrapKubeconfig(server, trust, client, options, cleanups)
  keepLeaves(pki, trust, own.leaves, options, pkiOptions, cleanups)
  const followed = options.policy && followLedger(await openLedger(options, cleanups, held))
  if (options.dashboard) {
    const { port } = options.dashboard
    const shown = followed && { leaves: followed.known, decisionLog: directory.decisionLog }
    const { dashboard, running } = await startDashboard({ ...options, ...shown, api, reader, server, port })
    cleanups.push(() => running.close())
    door.open(dashboard)
  }
  if (options.policy && followed) {
    await publishPolicy(client, options.policy, log)
    const controllers = startOwnControllers(
      options,
      trust,
      controllersClient,
      access,
      metrics,
      followed.ledger,
    )
    cleanups.push(() => controllers.stop())
    const rollover = await startEmbeddedRollover({
      ...options,
      ...trusted,
      ...own,
      pki,
      reader,
      client,
      connections: running.connections,
      server,
      place: { host: loopbackAddress(options.bind), port: running.port },
      ledger: followed.ledger,
      writeBootstrapKubeconfig,
      health: () => ({ errorRate: health.errorRate() }),
    })
    cleanups.push(() => rollover.stop())
  }
  // Comes first when all is stopped: whoever balances load is told before anything ends.
  cleanups.push(() => api.beginShutdown())
  return { server, pki, client, stop }
}

/** What the API shows and judges by, once it is open. */
interface Held {
  ledger?: SqliteLedger
  trust?: EmbeddedTrust
}

async function openLedger(
  { directory, clock, log }: ControlPlaneOptions,
  cleanups: Cleanups,
  held: Held,
): Promise<LastingLedger> {
  const ledger = await openSqliteLedger({ path: directory.ledger, clock, log })
  cleanups.push(() => ledger.close())
  held.ledger = ledger
  return ledger
}

/** The API over the store, not yet listening. `opened` tells it where it is reached, and that its roles are there. */
function openApi(
  store: Store,
  pki: Pki,
  metrics: Registry,
  { directory, clock, random, log }: ControlPlaneOptions,
  cleanups: Cleanups,
  held: Held,
): { api: Api; access: Access; reader: ObjectReader; opened(server: string): void } {
  const audit = openAuditLog(directory.auditLog, log)
  cleanups.push(() => audit.close())
  const reader = createObjectReader(store)
  const tokenIssuer = createTokenIssuer({ signer: pki.serviceAccount })
  const bare = createAccess({ reader, clock, clientCertificateAuthorities: pki.ca.pem, log, tokenIssuer })
  const access = witnessed(bare, () => held.trust?.seen, clock)
  let address: string | undefined
  const api = createApi({
    store,
    access,
    resources: allResources,
    reader,
    clock,
    random,
    log,
    audit: audit.sink,
    tokens: { issuer: tokenIssuer, server: () => address ?? '' },
    metrics: createApiMetrics(metrics),
    // Unlike kube-apiserver by default, a kubelet that cannot prove its address is not spoken with.
    tunnels: createTunnels({
      clock,
      reader,
      clientCertificate: () => pki.apiserverKubeletClient,
      certificateAuthority: () => held.trust?.judgedBy('kubelet-serving') ?? pki.ca.pem,
      addressTypes: kubeadmAddressTypes,
      metrics: createTunnelMetrics(metrics),
    }),
    readyChecks: {
      'poststarthook/rbac/bootstrap-roles': () => (address === undefined ? 'not finished' : undefined),
    },
    views: { [servedLedgerPath]: (): ServedLedger => held.ledger?.newest() ?? { data: {} } },
  })
  cleanups.push(() => api.close())
  return {
    api,
    access,
    reader,
    opened: server => {
      address = server
    },
  }
}

async function listen(
  api: Api,
  pki: Pki,
  { choice: chains }: EmbeddedTrust,
  { port, bind, clock, log }: ControlPlaneOptions,
  cleanups: Cleanups,
): Promise<RunningServer> {
  const tls = { ...pki.apiserver, clientCertificateAuthorities: pki.ca.pem }
  const running = await serve({ api, port, host: bind, tls, chains, clock, log })
  cleanups.push(async () => {
    // The API ends its watches and finishes what is under way, then the connections can say goodbye.
    await api.close()
    await running.close()
  })
  return running
}

/** Everything that must be there before the first node comes: namespaces, roles, bindings, where the API is. */
async function seedCluster(
  client: KubeClient,
  reader: ObjectReader,
  { server, port, trust }: { server: string; port: number; trust: EmbeddedTrust },
  { bind, clock }: ControlPlaneOptions,
): Promise<void> {
  await seed(client, seedNamespaces)
  const stored = storedPolicy(reader)
  await reconcilePolicy(client, [
    ...reconcileBootstrapPolicy(stored),
    ...completingWrites(stored, controllersPolicy),
  ])
  await seed(client, [...kubeadmBindings(), ...attestationSeeds()])
  await publishClusterInfo(client, server, trust.inSink('apiserver-serving', 'cluster-info'))
  await publishApiService(client, bind, port)
  await publishClientCas(client, trust.inSink('client', 'extension-apiserver-authentication'), clock.now())
}

/** Where the API reaches itself. */
function loopbackAddress(bind: string): string {
  return { '0.0.0.0': '127.0.0.1', '::': '::1' }[bind] ?? bind
}

/** Mints the bootstrap token now, and again whenever half its life is over. Resolves with how to look at once. */
async function keepBootstrapKubeconfig(
  server: string,
  trust: EmbeddedTrust,
  client: KubeClient,
  { directory, disk, clock, random, log }: ControlPlaneOptions,
  cleanups: Cleanups,
): Promise<() => Promise<void>> {
  const path = directory.bootstrapKubeconfig
  const work = () => {
    const certificateAuthority = trust.inSink('apiserver-serving', 'bootstrap.kubeconfig')
    return ensureBootstrapKubeconfig({ path, server, certificateAuthority, client, disk, clock, random })
  }
  const failure = `the bootstrap token in ${path} cannot be renewed`
  const kept = startRepeatedWork({ clock, log, first: await work(), work, failure })
  cleanups.push(() => kept.stop())
  return async () => void (await work())
}

const HOUR = 3_600_000

/** Looks once an hour whether a leaf is due; a new one serves new connections, and is shown to kubelets, at once. */
function keepLeaves(
  pki: Pki,
  trust: EmbeddedTrust,
  own: OwnCredentials['leaves'],
  { clock, log }: ControlPlaneOptions,
  pkiOptions: Parameters<typeof openPki>[0],
  cleanups: Cleanups,
): void {
  async function work(): Promise<number> {
    const { apiserver, apiserverKubeletClient } = await openPki(pkiOptions)
    pki.apiserver = apiserver
    await trust.keepLeaves()
    if (trust.role('client').sign.authority === 1) pki.apiserverKubeletClient = apiserverKubeletClient
    else await own['apiserver-kubelet-client']?.renew()
    return HOUR
  }
  const failure = 'the certificates of the API cannot be renewed'
  const kept = startRepeatedWork({ clock, log, first: HOUR, work, failure })
  cleanups.push(() => kept.stop())
}

function startOwnControllers(
  { directory, clock, random, log, disk, certificateLifetimeSeconds }: ControlPlaneOptions,
  trust: EmbeddedTrust,
  client: KubeClient,
  access: Access,
  metrics: Registry,
  ledger: LastingLedger,
): RunningControllers {
  return startControllers({
    client,
    // Their API is a function call away and takes no harm: the more wait for the disk, the fewer writes there are.
    workers: 32,
    askAccess: async spec => access.authorize(attributesOf(subjectOf(spec), spec)).allowed,
    clock,
    random,
    log,
    signers: Object.fromEntries(
      Object.values(signerNames).map(name => [name, trust.source(roleOfSigner(name))]),
    ),
    certificateLifetimeSeconds,
    rootCertificates: {
      current: () => trust.inSink('apiserver-serving', rootCaName),
      onChange: run => trust.onApplied(run),
    },
    disk,
    decisionLog: { path: directory.decisionLog, disk },
    metrics,
    ledger,
    issued: ledger.issued,
    // The data directory's lock already makes this process the only one; the Lease tells `csr explain` who decides. The
    // identity is always the same, so that a new process takes over at once after a kill.
    leaderElection: { identity: 'rollcall-embedded', namespace: 'kube-system', name: 'rollcall-controller' },
  })
}
