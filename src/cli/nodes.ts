import type { Command } from 'commander'
import { RollcallError } from '../errors.ts'
import { formatAge } from '../kube/time-format.ts'
import type { KnownCertificate, NodeSurvey } from '../survey/cluster-survey.ts'
import { shellWord } from '../survey/explanation.ts'
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
          show(io, flags.output, survey.nodes, name)
        }),
      ),
  )
}

function show(io: CommandIo, output: OutputFormat, nodes: NodeSurvey[], name: string | undefined): void {
  const now = io.clock.now()
  if (name === undefined) {
    print(io, output, { text: wide => formatTable(columns(now), nodes, wide), value: nodes })
    return
  }
  const node = nodes.find(node => node.name === name)
  if (!node)
    throw new RollcallError('API_STATUS', `there is no node ${JSON.stringify(name)}; see rollcall nodes`)
  print(io, output, { text: () => formatNode(node, now), value: node })
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

function formatNode(node: NodeSurvey, now: number): string {
  const lines = [
    ['node', node.name],
    ['status', node.readiness + (node.reason ? ` (${node.reason})` : '')],
    ...node.addresses.map(({ type, address }) => ['address', `${type} ${address}`]),
    ...certificateLines('client', node.client, now),
    ...certificateLines('serving', node.serving, now),
    ...node.pending.map(name => ['pending', `${name}   rollcall csr explain ${shellWord(name)}`]),
  ]
  return alignColumns(lines.map(line => line.map(printable)))
}

function certificateLines(kind: string, certificate: KnownCertificate | undefined, now: number): string[][] {
  if (!certificate)
    return [
      [
        kind,
        'not known: requests are deleted an hour after they were answered, and no ledger that you may read has it',
      ],
    ]
  const { notAfter, expired, used, issuer, serialNumber, request } = certificate
  const distance = formatAge(Math.abs(Date.parse(notAfter) - now))
  return [
    [
      kind,
      `${expired ? `EXPIRED ${distance} ago` : `valid for ${distance}`}, until ${notAfter}, ${Math.floor(used * 100)}% used`,
    ],
    ['', `issuer ${issuer}, serial ${serialNumber}, request ${request}`],
  ]
}
