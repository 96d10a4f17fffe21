import { hostname } from 'node:os'
import { resolve } from 'node:path'
import type { Command } from 'commander'
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { EvidenceSource } from '../approve/evidence/external/source.ts'
import { parsePolicyFile } from '../approve/policy-from-file.ts'
import type { OpenGenericRollover } from '../cluster/generic/open-generic-rollover.ts'
import { parseCertificateLifetime, parseGoDuration } from '../cluster/go-duration.ts'
import { hostPorts } from '../cluster/host-ports.ts'
import { lookAtTls } from '../cluster/look-at-tls.ts'
import {
  type ControllerName,
  clusterControllers,
  controllerNamed,
  controllerNames,
} from '../controller/controller-name.ts'
import { startControllers } from '../controller/start-controllers.ts'
import { RollcallError, systemCode } from '../errors.ts'
import { systemSpawn } from '../host/spawn.ts'
import { createClient } from '../kube/client.ts'
import { impersonating } from '../kube/impersonating-transport.ts'
import { signerNames } from '../kube/types.ts'
import { connectUndici } from '../kube/undici-transport.ts'
import { configMapLedger } from '../sign/config-map-ledger.ts'
import { canaryGroup, canaryUser } from '../survey/canary/run-canary.ts'
import type { CommandIo, ConnectedApi, ConnectionFlags } from './command-io.ts'
import { addConnectionOptions } from './connect-kubeconfig.ts'
import { readEvidenceConfig } from './evidence-config.ts'
import { type HeadFlags, headReceiverOf } from './head-receiver.ts'
import { lineLog } from './line-log.ts'
import { forbidTwice, openRollover, rolloverApi } from './rollover-option.ts'
import { type AttestationListen, attestationListen, serveAttestation } from './serve-attestation.ts'
import { type ListenAddress, listenAddress, serveMetrics } from './serve-metrics.ts'
import { addSigningOptions, openSigners, type SigningFlags, signingPairs } from './signing-option.ts'
import { untilStopped } from './until-stopped.ts'

interface ControllerFlags extends ConnectionFlags, SigningFlags, HeadFlags {
  rootCaFile?: string
  policy?: string
  certLifetime: string
  only?: string
  leaderElection: boolean
  metricsListen?: ListenAddress
  attestListen?: AttestationListen
  attestFirstUse: boolean
  evidenceConfig?: string
  canary?: string
  probeNodes?: string
  nodeConditions?: string
  rollover?: string
}

export function register(program: Command, io: CommandIo): void {
  const command = program
    .command('controller')
    .description('Run the controllers against any Kubernetes: approve, sign, clean, publish the root CA.')
    .option('--root-ca-file <file>', 'published as kube-root-ca.crt in every namespace')
    .option(
      '--policy <file>',
      'CertificatePolicies in a file, read again while it runs; default: those of the cluster',
    )
    .option('--cert-lifetime <duration>', "longest life of a node's certificate", '8760h')
    .option(
      '--only <controllers>',
      `comma list of ${controllerNames.join(', ')}, or Kubernetes' names of them; default: all but service-accounts and node-lifecycle`,
    )
    .option('--evidence-config <file>', 'webhooks and programs that policies may name as sources of evidence')
    .option('--decision-log <file>', 'keep every decision there in a chain of hashes, see rollcall audit')
    .option(
      '--head-webhook <url>',
      'send each signed head of the decision log there too (https, POST, JSON); needs --head-webhook-ca',
    )
    .option('--head-webhook-ca <file>', 'the certificate authority of the receiver, and no other; PEM')
    .option('--head-webhook-token <file>', 'a bearer token for the receiver, read again for each head')
    .option(
      '--canary <duration>',
      'so often make a request as system:node:rollcall-canary and tell by metrics whether it is approved and signed',
    )
    .option(
      '--probe-nodes <duration>',
      'so often look at what each node serves on the port of its kubelet, and tell it by metrics and to rollcall doctor',
    )
    .option(
      '--node-conditions <duration>',
      'so often write onto each Node whether its certificates are valid, where that has changed',
    )
    .option(
      '--rollover <file>',
      'change the CAs that this file names, by the hooks and places that it names; see docs/guides/ca-rollover-elsewhere.md',
    )
    .option('--no-leader-election', 'work at once: for a single replica')
    .option(
      '--metrics-listen <address:port>',
      'serve Prometheus metrics over plain HTTP there, like 127.0.0.1:9108',
      listenAddress,
    )
  command.option(
    '--attest-listen <address:port[,name=NAME]>',
    'let machines prove themselves there, by the CA of kubelet-serving; published in kube-public/cluster-info',
    attestationListen,
  )
  command.option('--no-attest-first-use', 'ask only machines that are registered: no other is written down')
  addConnectionOptions(addSigningOptions(command)).action((flags: ControllerFlags) => controller(flags, io))
}

async function controller(flags: ControllerFlags, io: CommandIo): Promise<void> {
  const stopped = untilStopped()
  const pairs = signingPairs(flags)
  // One that cannot be used ends the start; later ones are told and leave the last good one in force.
  if (flags.policy !== undefined) parsePolicyFile(await read(flags.policy, '--policy'), flags.policy)
  const rootCertificates =
    flags.rootCaFile === undefined ? '' : await read(flags.rootCaFile, '--root-ca-file')
  const evidenceSources = await readEvidenceSources(flags.evidenceConfig)
  const headReceiver = await headReceiverOf(flags, { connect: connectUndici, read })
  const certificateLifetimeSeconds = parseCertificateLifetime(flags.certLifetime)
  const only = flags.only === undefined ? clusterControllers : namesOf(flags.only)
  const log = lineLog()
  if (Object.keys(pairs).length === 0)
    log.warn('no --signing-cert: approved requests are left to another signer')
  const signers = await openSigners(only.includes('signing') ? pairs : {}, {
    log,
    certificateLifetimeSeconds,
  })
  let rollover: OpenGenericRollover | undefined
  try {
    const rolling = flags.rollover === undefined ? undefined : await rolloverApi(flags, only, log)
    const api = rolling?.api ?? (await io.connect(flags, true))
    const ledger = configMapLedger({ client: api.client, clock: hostPorts.clock, log })
    const elected = election()
    rollover =
      rolling &&
      (await openRollover(rolling, { ledger, certificateLifetimeSeconds, log, identity: elected.identity }))
    forbidTwice(Object.keys(signers.sources), rollover)
    const metrics = flags.metricsListen && (await openMetrics(flags.metricsListen))
    const attestation =
      flags.attestListen &&
      (await serveAttestation(flags.attestListen, signers.sources[signerNames.kubeletServing], {
        ...hostPorts,
        client: api.client,
        log,
        firstUse: flags.attestFirstUse,
        ...(metrics && { metrics: metrics.registry }),
      }))
    const running = startControllers({
      client: api.client,
      clock: hostPorts.clock,
      random: hostPorts.random,
      disk: hostPorts.disk,
      evidenceSources,
      ...(flags.decisionLog !== undefined && {
        decisionLog: { path: resolve(flags.decisionLog), disk: hostPorts.disk, headReceiver },
      }),
      log,
      signers: { ...signers.sources, ...rollover?.signers },
      certificateLifetimeSeconds,
      rootCertificates:
        rolling?.file.publishRootCa && rollover ? rollover.trust.rootCertificates : rootCertificates,
      ...(rollover && { besides: rollover.start }),
      ...(flags.policy !== undefined && { policyFile: flags.policy }),
      only,
      ledger,
      issued: ledger.issued,
      ...(metrics && { metrics: metrics.registry }),
      ...(flags.nodeConditions !== undefined && {
        nodeConditions: { intervalSeconds: parseGoDuration(flags.nodeConditions, '--node-conditions') },
      }),
      ...(flags.probeNodes !== undefined && {
        probes: { look: lookAtTls, intervalSeconds: parseGoDuration(flags.probeNodes, '--probe-nodes') },
      }),
      ...(flags.canary !== undefined && { canary: canaryOf(api, flags.canary) }),
      ...(flags.leaderElection && { leaderElection: elected }),
    })
    io.stdout(`ready ${api.server}\n`)
    if (metrics) io.stdout(`  metrics ${metrics.url}\n`)
    if (attestation) io.stdout(`  attestation ${attestation.url}\n`)
    await stopped
    await running.stop()
    await metrics?.close()
    await attestation?.close()
    api.close()
  } finally {
    signers.stop()
    rollover?.close()
  }
}

function canaryOf({ transport }: ConnectedApi, every: string) {
  if (!transport)
    throw new RollcallError('USAGE', '--canary: there is no connection to act as somebody else by')
  const asNode = createClient(impersonating(transport, canaryUser, canaryGroup))
  return { asNode, intervalSeconds: parseGoDuration(every, '--canary') }
}

async function openMetrics(address: ListenAddress) {
  const registry = new Registry()
  // Looking at the event loop a hundred times a second, prom-client's default, would keep an idle machine awake.
  collectDefaultMetrics({ register: registry, eventLoopMonitoringPrecision: 100 })
  return { registry, ...(await serveMetrics(address, registry)) }
}

function election() {
  const unique = Buffer.from(hostPorts.random.bytes(4)).toString('hex')
  return { identity: `${hostname()}_${unique}`, namespace: 'kube-system', name: 'rollcall-controller' }
}

function namesOf(list: string): ControllerName[] {
  return list.split(',').map(text => {
    const name = controllerNamed(text.trim())
    if (!name)
      throw new RollcallError(
        'USAGE',
        `--only: there is no controller ${JSON.stringify(text)}; known are ${controllerNames.join(', ')}.`,
      )
    return name
  })
}

async function readEvidenceSources(path: string | undefined): Promise<EvidenceSource[]> {
  if (path === undefined) return []
  const ports = {
    connect: connectUndici,
    spawn: systemSpawn,
    read: (file: string) => read(file, '--evidence-config'),
  }
  return readEvidenceConfig(path, ports)
}

async function read(path: string, option: string): Promise<string> {
  try {
    return new TextDecoder().decode(await hostPorts.disk.read(path))
  } catch (cause) {
    const why = systemCode(cause) ?? String(cause)
    throw new RollcallError('USAGE', `${option}: ${path} cannot be read (${why}).`, { path }, { cause })
  }
}
