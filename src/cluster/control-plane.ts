import { collectDefaultMetrics, Registry } from 'prom-client'
import type { Api } from '../apiserver/api.ts'
import { putDefinitions } from '../apiserver/custom/put-definitions.ts'
import { type RunningServer, serve } from '../apiserver/http/server.ts'
import { openSqliteStore } from '../apiserver/storage/sqlite-store.ts'
import { dashboardDoor } from '../dashboard/dashboard.ts'
import { followLedger } from '../dashboard/fleet/known-leaves.ts'
import type { KubeClient } from '../kube/client.ts'
import { rollcallKinds } from '../kube/rollcall/index.ts'
import type { LastingLedger } from '../sign/ledger.ts'
import { publishPolicy } from './approval-policy.ts'
import { withAttestation } from './attestation.ts'
import type { Cleanups, ControlPlaneOptions } from './control-plane-options.ts'
import { identities } from './identities.ts'
import { keepBootstrapKubeconfig, keepLeaves } from './kept-credentials.ts'
import { loopbackClient } from './loopback-client.ts'
import { type Held, openApi } from './open-api.ts'
import { startOwnControllers } from './own-controllers.ts'
import { openPki, type Pki } from './pki.ts'
import { startEmbeddedRollover } from './rollover/embedded-rollover.ts'
import type { EmbeddedTrust } from './rollover/embedded-trust.ts'
import { openTrust } from './rollover/open-trust.ts'
import { ownCredentials } from './rollover/own-credentials.ts'
import { watchedHealth } from './rollover/request-health.ts'
import { seedCluster } from './seed-cluster.ts'
import { openSqliteLedger } from './sqlite-ledger.ts'
import { startDashboard } from './start-dashboard.ts'

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

/** Where the API reaches itself. */
function loopbackAddress(bind: string): string {
  return { '0.0.0.0': '127.0.0.1', '::': '::1' }[bind] ?? bind
}
