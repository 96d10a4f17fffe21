import type { Command } from 'commander'
import { lookAtTls } from '../cluster/look-at-tls.ts'
import { allChecks } from '../doctor/all-checks.ts'
import { decodeBundle, encodeBundle } from '../doctor/bundle.ts'
import { diagnose, exitCodeOf, type Report } from '../doctor/diagnose.ts'
import { gatherCluster } from '../doctor/gather/gather-cluster.ts'
import { gatherNode, type NodeFiles } from '../doctor/gather/gather-node.ts'
import { readLogs } from '../doctor/gather/logs.ts'
import type { Machine } from '../doctor/gather/machine.ts'
import type { LookAtTls } from '../doctor/gather/ports.ts'
import { requireNode } from '../doctor/require-node.ts'
import { RollcallError, systemCode } from '../errors.ts'
import { systemDisk } from '../host/disk.ts'
import { systemMachine } from '../host/machine.ts'
import { systemRandom } from '../host/random.ts'
import { systemSpawn } from '../host/spawn.ts'
import { parsePin } from '../join/discovery/parse-pin.ts'
import { createClient } from '../kube/client.ts'
import { connectHttps } from '../kube/https-transport.ts'
import { impersonating } from '../kube/impersonating-transport.ts'
import type { Connect } from '../kube/transport.ts'
import type { Disk, Random, Spawn } from '../ports.ts'
import { canaryGroup, canaryUser } from '../survey/canary/run-canary.ts'
import type { CommandIo, ConnectionFlags } from './command-io.ts'
import { addConnectionOptions } from './connect-kubeconfig.ts'
import { registerExplain } from './doctor-explain.ts'
import { formatReport } from './doctor-report.ts'
import { addOutputOption, type OutputFormat, print } from './output.ts'
import { withApi } from './with-api.ts'

export interface DoctorPorts {
  disk: Disk
  random: Random
  machine: Machine
  connect: Connect
  lookAtTls: LookAtTls
  /** Runs credential plugins of kubeconfigs. */
  spawn: Spawn
  /** What they inherit. */
  environment: Readonly<Record<string, string>>
}

const systemPorts: DoctorPorts = {
  disk: systemDisk,
  random: systemRandom,
  machine: systemMachine,
  connect: connectHttps,
  lookAtTls,
  spawn: systemSpawn,
  environment: Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  ),
}

/** For `doctor`, `collect` and `node`. */
const logOption = [
  '--log <file...>',
  'also look at the lines about certificates in these logs; - is stdin, e.g. journalctl -u kubelet | …',
] as const

interface DoctorFlags extends ConnectionFlags {
  output: OutputFormat
  probe?: boolean
  canary?: boolean
  bundle?: string
  node?: string
  log?: string[]
}

export function register(program: Command, io: CommandIo, ports: DoctorPorts = systemPorts): void {
  // A flag behind a subcommand is the subcommand's, although `doctor` has one of that name; commander asks both levels.
  const doctor = program
    .enablePositionalOptions()
    .command('doctor')
    .enablePositionalOptions()
    .description(
      'say what is wrong with the certificates of a cluster, why, and what to do (exit 3: found something, 4: could not look everywhere)',
    )
    .option(
      '--probe',
      'also look at what nodes serve on the port of the kubelet, of at most 50, those first that have reason to be',
    )
    .option(
      '--canary',
      'also ask for a certificate as system:node:rollcall-canary, to see whether it is approved and signed; its key is dropped',
    )
    .option('--node <name>', 'only what is found for this node')
    .option('--bundle <file>', 'look at a bundle of `doctor collect` in place of a cluster')
    .option(...logOption)
  addOutputOption(addConnectionOptions(doctor)).action(async (flags: DoctorFlags) => {
    const report = flags.bundle
      ? await reportOfBundle(flags.bundle, flags, ports)
      : await reportOfCluster(io, flags, ports)
    show(io, flags.output, report)
  })
  registerCollect(doctor, io, ports)
  registerNode(doctor, io, ports)
  registerExplain(doctor, io)
}

function show(io: CommandIo, output: OutputFormat, report: Report): void {
  print(io, output, {
    text: wide => formatReport(report, { wide, colours: io.colours ?? io.isTerminal }),
    value: report,
  })
  io.exitWith(exitCodeOf(report))
}

function registerCollect(doctor: Command, io: CommandIo, ports: DoctorPorts): void {
  const command = doctor
    .command('collect')
    .description('write what the doctor looks at to a file, without keys and tokens, to look at elsewhere')
    .requiredOption('-f, --file <file>', 'the file to write')
    .option(
      '--probe',
      'also look at what nodes serve on the port of the kubelet, of at most 50, those first that have reason to be',
    )
    .option(...logOption)
  addConnectionOptions(command).action(async (flags: CollectFlags) => {
    const { server, artifacts, now } = await gather(io, flags, ports)
    const text = encodeBundle(server, artifacts, now)
    await ports.disk.write(flags.file, text, { mode: 0o600 })
    const missing = Object.entries(artifacts).flatMap(([name, { status }]) =>
      status === 'forbidden' || status === 'failed' ? [name] : [],
    )
    const without = missing.length > 0 ? `; could not read: ${missing.join(', ')}` : ''
    io.stderr(`wrote ${flags.file}, ${text.length} bytes${without}\n`)
  })
}

function registerNode(doctor: Command, io: CommandIo, ports: DoctorPorts): void {
  const command = doctor
    .command('node')
    .description(
      'look at the files of this node, run the credential plugins that they name, and ask its API server',
    )
    .option('--cert-dir <folder>', 'where the pairs are', '/var/lib/kubelet/pki')
    .option('--kubeconfig <file>', 'the kubeconfig of the kubelet', '/etc/kubernetes/kubelet.conf')
    .option(
      '--bootstrap-kubeconfig <file>',
      'the kubeconfig that it joins with',
      '/etc/kubernetes/bootstrap-kubelet.conf',
    )
    .option('--config <file>', 'the KubeletConfiguration', '/var/lib/kubelet/config.yaml')
    .option('--kubelet-flags <file>', "kubeadm's flags of the kubelet", '/var/lib/kubelet/kubeadm-flags.env')
    .option('--signing-cert <file>', 'what the signer on this node signs with', '/etc/kubernetes/pki/ca.crt')
    .option('--signing-key <file>', 'the key that belongs to it', '/etc/kubernetes/pki/ca.key')
    .option(
      '--discovery-ca-pin <sha256:hex>',
      'the CA pin that it joins by; may be repeated',
      (text: string, before: string[]) => [...before, parsePin(text)],
      [],
    )
    .option(...logOption)
  addOutputOption(command).action(async ({ output, ...flags }: NodeFlags) => {
    const files: NodeFiles = {
      certDirectory: flags.certDir,
      kubeconfig: flags.kubeconfig,
      bootstrapKubeconfig: flags.bootstrapKubeconfig,
      kubeletConfig: flags.config,
      kubeletFlags: flags.kubeletFlags,
      signing: { certificate: flags.signingCert, key: flags.signingKey },
      pins: flags.discoveryCaPin,
      ...(flags.log && { logs: flags.log }),
    }
    const { spawn, environment } = ports
    const plugins = { spawn, environment, clock: io.clock }
    const artifacts = await gatherNode(files, { ...ports, plugins })
    show(io, output, diagnose(`the node with ${flags.certDir}`, artifacts, io.clock.now(), allChecks))
  })
}

interface CollectFlags extends ConnectionFlags {
  file: string
  probe?: boolean
  log?: string[]
}

interface NodeFlags {
  output: OutputFormat
  certDir: string
  kubeconfig: string
  bootstrapKubeconfig: string
  config: string
  kubeletFlags: string
  signingCert: string
  signingKey: string
  discoveryCaPin: string[]
  log?: string[]
}

async function gather(
  io: CommandIo,
  flags: ConnectionFlags & { probe?: boolean; canary?: boolean; log?: string[] },
  { lookAtTls, random, disk }: DoctorPorts,
) {
  return withApi(io, flags, async ({ client, server, certificate, transport }) => {
    const asNode = transport && createClient(impersonating(transport, canaryUser, canaryGroup))
    const target = {
      client,
      server,
      probe: flags.probe ?? false,
      ...(flags.canary && asNode && { canary: { asNode, random } }),
      ...(certificate && { ownCertificate: certificate }),
    }
    const artifacts = await gatherCluster(target, { clock: io.clock, lookAtTls })
    if (flags.log) artifacts.logLines = await readLogs(flags.log, disk)
    return { server, artifacts, now: io.clock.now() }
  })
}

async function reportOfCluster(io: CommandIo, flags: DoctorFlags, ports: DoctorPorts): Promise<Report> {
  const { server, artifacts, now } = await gather(io, flags, ports)
  if (flags.node !== undefined) requireNode(flags.node, artifacts, now)
  return diagnose(server, artifacts, now, allChecks, flags.node)
}

async function reportOfBundle(
  file: string,
  { node, log }: Pick<DoctorFlags, 'node' | 'log'>,
  { disk }: DoctorPorts,
): Promise<Report> {
  const bytes = await disk.read(file).catch(cause => {
    const why = systemCode(cause) ?? String(cause)
    throw new RollcallError('USAGE', `--bundle: ${file} cannot be read: ${why}`, { file }, { cause })
  })
  const { subject, artifacts, gatheredAt } = decodeBundle(new TextDecoder().decode(bytes))
  if (log) artifacts.logLines = await readLogs(log, disk)
  if (node !== undefined) requireNode(node, artifacts, Date.parse(gatheredAt))
  return diagnose(subject, artifacts, Date.parse(gatheredAt), allChecks, node)
}
