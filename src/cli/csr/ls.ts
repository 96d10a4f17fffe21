import type { Command } from 'commander'
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
      shownAgain(io, flags.watch, async () => show(io, flags, await listed(client, flags))),
    ),
  )
}

async function listed(client: KubeClient, { signer }: LsFlags): Promise<CertificateSigningRequest[]> {
  const { items } = await listAll<CertificateSigningRequest>(client, resources.certificateSigningRequests, {
    ...(signer && { fieldSelector: `spec.signerName=${signerNamed(signer)}` }),
  })
  return items
}

function show(io: CommandIo, flags: LsFlags, items: readonly CertificateSigningRequest[]): void {
  const now = io.clock.now()
  const chosen = items
    .filter(item => matches(item, flags))
    .sort((a, b) => createdAt(a, now) - createdAt(b, now) || (keyOf(a) < keyOf(b) ? -1 : 1))
  print(io, flags.output, {
    text: wide => formatTable(columns(now), chosen, wide),
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

function requestedNames(csr: CertificateSigningRequest): string {
  const request = readSpecRequest(csr)
  return request.ok ? namesIn(request.value.subjectAltName).join(', ') : `unreadable: ${request.problem}`
}
