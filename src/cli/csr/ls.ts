import type { Command } from 'commander'
import type { Waiting } from '../../doctor/requests/why-waiting.ts'
import { type KubeClient, listAll } from '../../kube/client.ts'
import { formatAge } from '../../kube/time-format.ts'
import { type CertificateSigningRequest, resources } from '../../kube/types.ts'
import { isUndecided } from '../../survey/cluster-survey.ts'
import { conditionText, createdAt, nodeOfRequest, readSpecRequest } from '../../survey/request-facts.ts'
import { namesIn } from '../../survey/requested-names.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { addWatchOption, shownAgain } from '../shown-again.ts'
import { type Column, formatTable } from '../table.ts'
import { withApi } from '../with-api.ts'
import { signerNamed, signerShown } from './requests.ts'

interface LsFlags extends ConnectionFlags {
  output: OutputFormat
  signer?: string
  requester?: string
  node?: string
  pending?: boolean
  watch?: boolean
}

export function register(csr: Command, io: CommandIo): void {
  const command = csr
    .command('ls')
    .alias('list')
    .description('list the requests, oldest first')
    .option('--signer <name>', 'only for this signer; client and serving stand for those of the kubelet')
    .option('--requester <user>', 'only by this user')
    .option('--node <name>', 'only for this node')
    .option('--pending', 'only those that nobody decided yet')
  addWatchOption(addOutputOption(addConnectionOptions(command))).action((flags: LsFlags) =>
    withApi(io, flags, ({ client }) =>
      shownAgain(io, flags.watch, async () => {
        const items = await listed(client, flags)
        const asText = flags.output === 'table' || flags.output === 'wide'
        show(io, flags, items, asText ? await reasons(client, items, io.clock.now()) : new Map())
      }),
    ),
  )
}

async function listed(client: KubeClient, { signer }: LsFlags): Promise<CertificateSigningRequest[]> {
  const { items } = await listAll<CertificateSigningRequest>(client, resources.certificateSigningRequests, {
    ...(signer && { fieldSelector: `spec.signerName=${signerNamed(signer)}` }),
  })
  return items
}

/** The checks of the doctor take longer to load than the list takes, and mostly nothing waits. */
async function reasons(
  client: KubeClient,
  items: readonly CertificateSigningRequest[],
  now: number,
): Promise<ReadonlyMap<string, Waiting>> {
  if (!items.some(isUndecided)) return new Map()
  const { whyWaiting } = await import('../../doctor/requests/why-waiting.ts')
  return whyWaiting(client, items, now)
}

function show(
  io: CommandIo,
  flags: LsFlags,
  items: readonly CertificateSigningRequest[],
  waiting: ReadonlyMap<string, Waiting>,
): void {
  const now = io.clock.now()
  const chosen = items
    .filter(item => matches(item, flags))
    .sort((a, b) => createdAt(a, now) - createdAt(b, now) || (keyOf(a) < keyOf(b) ? -1 : 1))
  print(io, flags.output, {
    text: wide => formatTable([...columns(now), ...waitingColumns(chosen, waiting)], chosen, wide),
    value: { apiVersion: 'v1', kind: 'List', items: chosen },
  })
}

/** Times are whole seconds: of one second a client request comes before the serving request that it makes possible. */
const keyOf = ({ spec, metadata }: CertificateSigningRequest) => `${spec.signerName} ${metadata.name}`

function matches(csr: CertificateSigningRequest, { requester, node, pending }: LsFlags): boolean {
  if (requester !== undefined && csr.spec.username !== requester) return false
  if (pending && !isUndecided(csr)) return false
  return node === undefined || nodeOfRequest(csr) === node
}

function columns(now: number): Column<CertificateSigningRequest>[] {
  return [
    { title: 'name', cell: csr => csr.metadata.name },
    { title: 'age', cell: csr => formatAge(now - createdAt(csr, now)) },
    { title: 'signer', cell: csr => signerShown(csr.spec.signerName) },
    { title: 'node', cell: csr => nodeOfRequest(csr) ?? '' },
    { title: 'requester', cell: csr => csr.spec.username ?? '' },
    { title: 'condition', cell: conditionText },
    {
      title: 'duration',
      cell: ({ spec }) => (spec.expirationSeconds ? formatAge(spec.expirationSeconds * 1000) : ''),
      wide: true,
    },
    { title: 'names', cell: requestedNames, wide: true },
  ]
}

/** Only where one of them waits. */
function waitingColumns(
  shown: readonly CertificateSigningRequest[],
  waiting: ReadonlyMap<string, Waiting>,
): Column<CertificateSigningRequest>[] {
  if (!shown.some(({ metadata }) => waiting.has(metadata.name))) return []
  return [
    {
      title: 'not on the node',
      cell: ({ metadata }) => waiting.get(metadata.name)?.notOnNode?.join(', ') ?? '',
    },
    { title: 'why', cell: ({ metadata }) => waiting.get(metadata.name)?.why ?? '' },
  ]
}

function requestedNames(csr: CertificateSigningRequest): string {
  const request = readSpecRequest(csr)
  return request.ok ? namesIn(request.value.subjectAltName).join(', ') : `unreadable: ${request.problem}`
}
