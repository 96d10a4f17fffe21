import type { Command } from 'commander'
import { type KubeClient, listAll } from '../kube/client.ts'
import { formatAge } from '../kube/time-format.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../kube/types.ts'
import { readLedger } from '../sign/served-ledger.ts'
import { type ClusterSurvey, surveyCluster, type WaitingRequest } from '../survey/cluster-survey.ts'
import { shellWord } from '../survey/explanation.ts'
import type { CommandIo, ConnectionFlags } from './command-io.ts'
import { addConnectionOptions } from './connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from './output.ts'
import { printable } from './printable.ts'
import { addWatchOption, shownAgain } from './shown-again.ts'
import { alignColumns } from './table.ts'
import { withApi } from './with-api.ts'

export function register(program: Command, io: CommandIo): void {
  const command = program
    .command('status')
    .description('show nodes, their certificates, and requests that wait')
  addWatchOption(addOutputOption(addConnectionOptions(command))).action(
    async (flags: ConnectionFlags & { output: OutputFormat; watch?: boolean }) => {
      await withApi(io, flags, ({ client, server }) =>
        shownAgain(io, flags.watch, async () => {
          const survey = await gatherSurvey(client, io.clock.now())
          print(io, flags.output, {
            text: () => formatStatus(survey, server, io.clock.now()),
            value: { server, ...survey },
          })
        }),
      )
    },
  )
}

/** Lists Nodes, requests and the ledger's leaves and surveys them. `now` in milliseconds since the epoch. */
export async function gatherSurvey(client: KubeClient, now: number): Promise<ClusterSurvey> {
  const [nodes, requests, ledger] = await Promise.all([
    listAll<KubeNode>(client, resources.nodes),
    listAll<CertificateSigningRequest>(client, resources.certificateSigningRequests),
    readLedger(client),
  ])
  const survey = surveyCluster(nodes.items, requests.items, now, ledger.leaves)
  const problem = 'the line of the ledger is none that rollcall wrote'
  survey.unreadable.push(...ledger.unreadable.map(where => ({ request: where, problem })))
  return survey
}

/** At most this many lines for each thing that waits. */
const SHOWN = 10

function formatStatus(survey: ClusterSurvey, server: string, now: number): string {
  const { nodes, requests, nextExpiry, unreadable } = survey
  const ready = (readiness: string) => nodes.filter(node => node.readiness === readiness).length
  const notReady = nodes.length - ready('Ready')
  const next = nextExpiry
    ? `${nextExpiry.node} ${nextExpiry.kind}, in ${formatAge(Date.parse(nextExpiry.notAfter) - now)} (${nextExpiry.notAfter})`
    : 'none known'
  const overview = alignColumns(
    [
      ['cluster', server],
      ['nodes', `${nodes.length}`, `ready ${ready('Ready')}`, `not ready ${notReady}`],
      ['client', ...certificateCounts(survey, 'client')],
      ['serving', ...certificateCounts(survey, 'serving')],
      [
        'requests',
        `pending ${requests.pending.length + requests.fresh}`,
        `unsigned ${requests.unsigned.length}`,
        `denied ${requests.denied}`,
        `failed ${requests.failed}`,
      ],
      ['next expiry', next],
    ].map(line => line.map(printable)),
  )
  const down = nodes.filter(node => node.readiness !== 'Ready')
  return (
    overview +
    section('not ready', down, node => [node.name, node.readiness, node.reason ?? '']) +
    section('undecided for more than a minute', requests.pending, waitingLine) +
    section('approved and not signed', requests.unsigned, waitingLine) +
    section('certificates that cannot be read', unreadable, ({ request, problem }) => [request, problem])
  )
}

function certificateCounts({ nodes }: ClusterSurvey, kind: 'client' | 'serving'): string[] {
  const known = nodes.flatMap(node => node[kind] ?? [])
  const expired = known.filter(certificate => certificate.expired).length
  return [`valid ${known.length - expired}`, `expired ${expired}`, `not known ${nodes.length - known.length}`]
}

function waitingLine({ name, node, ageSeconds }: WaitingRequest): string[] {
  return [name, node ?? '', formatAge(ageSeconds * 1000), `rollcall csr explain ${shellWord(name)}`]
}

function section<T>(title: string, items: readonly T[], line: (item: T) => string[]): string {
  if (items.length === 0) return ''
  const rest = items.length > SHOWN ? `  and ${items.length - SHOWN} more\n` : ''
  return `\n${title}:\n${alignColumns(
    items.slice(0, SHOWN).map(item => line(item).map(printable)),
    '  ',
  )}${rest}`
}
