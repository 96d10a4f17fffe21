import type { Command } from 'commander'
import { RollcallError } from '../errors.ts'
import { isStatus, type KubeClient } from '../kube/client.ts'
import { formatAge } from '../kube/time-format.ts'
import { type Lease, resources } from '../kube/types.ts'
import { type KnownCertificate, type NodeSurvey, standingOf } from '../survey/cluster-survey.ts'
import { shellWord } from '../survey/explanation.ts'
import { gatherSurroundings, type ServingSeen } from '../survey/surroundings.ts'
import { decodeTrustReport, type ReportedTrust, trustReportAnnotation } from '../trust/trust-report.ts'
import type { CommandIo, ConnectionFlags } from './command-io.ts'
import { addConnectionOptions } from './connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from './output.ts'
import { printable } from './printable.ts'
import { addWatchOption, shownAgain } from './shown-again.ts'
import { gatherSurvey } from './status.ts'
import { alignColumns, type Column, formatTable } from './table.ts'
import { withApi } from './with-api.ts'

export function register(program: Command, io: CommandIo): void {
  const command = program
    .command('nodes')
    .argument('[name]', 'only this node, in detail')
    .description('show the nodes and the certificates they were given')
  addWatchOption(addOutputOption(addConnectionOptions(command))).action(
    (name: string | undefined, flags: ConnectionFlags & { output: OutputFormat; watch?: boolean }) =>
      withApi(io, flags, ({ client }) =>
        shownAgain(io, flags.watch, async () => {
          const survey = await gatherSurvey(client, io.clock.now())
          await show(io, flags.output, client, survey.nodes, name)
        }),
      ),
  )
}

interface NodeDetail extends NodeSurvey {
  /** Its Lease: when the node renewed it by its own clock, RFC 3339, and what it says to trust. */
  lease?: { renewed?: string; trust?: ReportedTrust[] }
  /** What a controller saw on the port of its kubelet. */
  seen?: ServingSeen
}

/** What else is known of one node, as far as it may be read. */
async function detailOf(client: KubeClient, node: NodeSurvey, now: number): Promise<NodeDetail> {
  const target = { name: node.name, namespace: 'kube-node-lease' }
  const [{ serving = [] }, lease] = await Promise.all([
    gatherSurroundings(client, now),
    client.get<Lease>(resources.leases, target).catch((error: unknown) => {
      if (isStatus(error, 'Forbidden') || isStatus(error, 'NotFound')) return undefined
      throw error
    }),
  ])
  const seen = serving.find(found => found.node === node.name)
  const trust = decodeTrustReport(lease?.metadata.annotations?.[trustReportAnnotation])
  const renewed = lease?.spec?.renewTime
  return {
    ...node,
    ...(lease && { lease: { ...(renewed !== undefined && { renewed }), ...(trust && { trust }) } }),
    ...(seen && { seen }),
  }
}

async function show(
  io: CommandIo,
  output: OutputFormat,
  client: KubeClient,
  nodes: NodeSurvey[],
  name: string | undefined,
): Promise<void> {
  const now = io.clock.now()
  if (name === undefined) {
    print(io, output, { text: wide => formatTable(columns(now), nodes, wide), value: nodes })
    return
  }
  const node = nodes.find(node => node.name === name)
  if (!node)
    throw new RollcallError('API_STATUS', `there is no node ${JSON.stringify(name)}; see rollcall nodes`)
  const detail = await detailOf(client, node, now)
  print(io, output, { text: () => formatNode(detail, now), value: detail })
}

function columns(now: number): Column<NodeSurvey>[] {
  const left = (certificate: KnownCertificate | undefined) =>
    certificate
      ? certificate.expired
        ? 'expired'
        : formatAge(Date.parse(certificate.notAfter) - now)
      : 'not known'
  return [
    { title: 'name', cell: node => node.name },
    { title: 'status', cell: node => node.readiness },
    { title: 'client', cell: node => left(node.client) },
    { title: 'serving', cell: node => left(node.serving) },
    { title: 'pending', cell: node => String(node.pending.length) },
    { title: 'age', cell: node => (node.created ? formatAge(now - Date.parse(node.created)) : '') },
    { title: 'addresses', cell: node => node.addresses.map(({ address }) => address).join(','), wide: true },
    { title: 'client expires', cell: node => node.client?.notAfter ?? '', wide: true },
    { title: 'serving expires', cell: node => node.serving?.notAfter ?? '', wide: true },
  ]
}

function formatNode(node: NodeDetail, now: number): string {
  const lines = [
    ['node', node.name],
    ['status', node.readiness + (node.reason ? ` (${node.reason})` : '')],
    ...(node.version ? [['version', node.version]] : []),
    ...leaseLines(node, now),
    ...node.addresses.map(({ type, address }) => ['address', `${type} ${address}`]),
    ...certificateLines('client', node.client, now),
    ...certificateLines('serving', node.serving, now),
    ...seenLines(node, now),
    ...trustLines(node),
    ...node.pending.map(name => ['pending', `${name}   rollcall csr explain ${shellWord(name)}`]),
  ]
  return alignColumns(lines.map(line => line.map(printable)))
}

function leaseLines({ lease }: NodeDetail, now: number): string[][] {
  if (!lease) return []
  const renewed = Date.parse(lease.renewed ?? '')
  if (Number.isNaN(renewed)) return [['report', 'never: its Lease was not renewed yet']]
  const age = now - renewed
  // The API's clock and the node's are seldom the same second.
  const when =
    age < -toleratedSkew ? `${formatAge(-age)} AHEAD of our clock` : `${formatAge(Math.max(age, 0))} ago`
  return [['report', `${when}, by its own clock (Lease)`]]
}

/** Milliseconds. */
const toleratedSkew = 60_000

function seenLines({ seen }: NodeDetail, now: number): string[][] {
  if (!seen) return []
  const { host, port, state, at } = seen
  return [
    ['served', `at ${host}:${port}: ${state.replace('_', ' ')}, seen ${formatAge(now - Date.parse(at))} ago`],
  ]
}

/** What its own process has loaded, as it says itself. */
function trustLines({ lease }: NodeDetail): string[][] {
  return (lease?.trust ?? [])
    .filter(({ subject }) => subject === 'agent')
    .map(({ role, generation, digest }, n) => [
      n === 0 ? 'trust' : '',
      `${role}: bundle ${generation}, sha256:${digest.slice(0, 12)}… in memory`,
    ])
}

function certificateLines(kind: string, certificate: KnownCertificate | undefined, now: number): string[][] {
  if (!certificate)
    return [
      [
        kind,
        'not known: requests are deleted an hour after they were answered, and no ledger that you may read has it',
      ],
    ]
  const { notAfter, used, issuer, serialNumber, request } = certificate
  const standing = standingOf(certificate)
  const distance = formatAge(Math.abs(Date.parse(notAfter) - now))
  return [
    [
      kind,
      `${standing === 'expired' ? `EXPIRED ${distance} ago` : `${standing === 'overdue' ? 'OVERDUE, ' : ''}valid for ${distance}`}, until ${notAfter}, ${Math.floor(used * 100)}% used`,
    ],
    ['', `issuer ${issuer}, serial ${serialNumber}, request ${request}`],
  ]
}
