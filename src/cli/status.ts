import type { Command } from 'commander'
import { type KubeClient, listAll } from '../kube/client.ts'
import { formatAge } from '../kube/time-format.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../kube/types.ts'
import { readLedger } from '../sign/served-ledger.ts'
import {
  type ClusterSurvey,
  type NodeSurvey,
  standingOf,
  surveyCluster,
  type WaitingRequest,
} from '../survey/cluster-survey.ts'
import { shellWord } from '../survey/explanation.ts'
import { gatherSurroundings, type Surroundings } from '../survey/surroundings.ts'
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
          const now = io.clock.now()
          const [survey, around] = await Promise.all([
            gatherSurvey(client, now),
            gatherSurroundings(client, now),
          ])
          print(io, flags.output, {
            text: () => formatStatus(survey, around, server, now),
            value: { server, ...around, ...survey },
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

function formatStatus(survey: ClusterSurvey, around: Surroundings, server: string, now: number): string {
  const { nodes, requests, nextExpiry, unreadable } = survey
  const ready = (readiness: string) => nodes.filter(node => node.readiness === readiness).length
  const notReady = nodes.length - ready('Ready')
  const next = nextExpiry
    ? `${nextExpiry.node} ${nextExpiry.kind}, in ${formatAge(Date.parse(nextExpiry.notAfter) - now)} (${nextExpiry.notAfter})`
    : 'none known'
  const overview = alignColumns(
    [
      ['cluster', server],
      ...authorityLines(around, now),
      ...controllerLines(around),
      ['nodes', `${nodes.length}`, `ready ${ready('Ready')}`, `not ready ${notReady}`],
      ['client', ...certificateCounts(survey, 'client')],
      ['serving', ...certificateCounts(survey, 'serving')],
      ...servingLines(around),
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
  const late = nodes.flatMap(node => lateCertificates(node, now))
  const found =
    section('not ready', down, node => [node.name, node.readiness, node.reason ?? '']) +
    section('expired, or to be renewed by now', late, line => line) +
    section(`undecided for more than a minute${ofNodes(requests.pending)}`, requests.pending, waitingLine) +
    section('approved and not signed', requests.unsigned, waitingLine) +
    section('certificates that cannot be read', unreadable, ({ request, problem }) => [request, problem])
  return overview + found + (found && '\nwhy, and what to do about it: rollcall doctor\n')
}

/** At most this many on one line. */
const named = 3

function authorityLines({ authorities = [] }: Surroundings, now: number): string[][] {
  if (authorities.length === 0) return []
  const shown = authorities
    .toSorted((a, b) => Date.parse(a.notAfter) - Date.parse(b.notAfter))
    .map(({ name, notAfter }) => `${name} ${left(Date.parse(notAfter) - now)}`)
  const rest = shown.length > named ? `, and ${shown.length - named} more` : ''
  return [['ca', shown.slice(0, named).join(', ') + rest]]
}

const left = (milliseconds: number) =>
  milliseconds < 0 ? `ENDED ${formatAge(-milliseconds)} ago` : `${formatAge(milliseconds)} left`

function controllerLines({ controllers }: Surroundings): string[][] {
  if (!controllers) return []
  const shown = controllers
    .filter(({ holder }) => holder !== '')
    .map(({ name, holder, live, renewedAgo }) =>
      live ? `${name} (${holder})` : `${name} STOPPED ${renewedAgo ?? '?'} s ago`,
    )
  return [['controllers', shown.join(', ') || 'none is seen by its Lease']]
}

/** What was seen on the port of kubelets, of those who do not serve as they should. */
function servingLines({ serving }: Surroundings): string[][] {
  if (!serving || serving.length === 0) return []
  const states = [...Map.groupBy(serving, ({ state }) => state)].map(
    ([state, of]) => `${state.replace('_', ' ')} ${of.length}`,
  )
  return [['port 10250', ...states]]
}

function certificateCounts({ nodes }: ClusterSurvey, kind: 'client' | 'serving'): string[] {
  const known = nodes.flatMap(node => node[kind] ?? [])
  const count = (standing: ReturnType<typeof standingOf>) =>
    `${standing} ${known.filter(certificate => standingOf(certificate) === standing).length}`
  return [count('valid'), count('overdue'), count('expired'), `not known ${nodes.length - known.length}`]
}

function lateCertificates(node: NodeSurvey, now: number): string[][] {
  return (['client', 'serving'] as const).flatMap(kind => {
    const certificate = node[kind]
    if (!certificate || standingOf(certificate) === 'valid') return []
    return [[node.name, kind, left(Date.parse(certificate.notAfter) - now), certificate.notAfter]]
  })
}

/** How many nodes wait, and since when. */
function ofNodes(requests: readonly WaitingRequest[]): string {
  const [oldest] = requests
  if (!oldest) return ''
  const nodes = new Set(requests.map(({ node, requester }) => node ?? requester))
  return `: ${requests.length} from ${nodes.size === 1 ? 'one node' : `${nodes.size} nodes`}, the oldest for ${formatAge(oldest.ageSeconds * 1000)}`
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
