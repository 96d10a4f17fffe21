import type { Command } from 'commander'
import { getRequest } from '../../doctor/requests/find-request.ts'
import { type Review, reviewRequest } from '../../doctor/requests/review.ts'
import { formatAge, formatTime } from '../../kube/time-format.ts'
import { conditionText, createdAt, readIssued } from '../../survey/request-facts.ts'
import { formatName } from '../../x509/name.ts'
import { serialDecimal } from '../../x509/serial-number.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { printable } from '../printable.ts'
import { alignColumns } from '../table.ts'
import { withApi } from '../with-api.ts'

export function register(csr: Command, io: CommandIo): void {
  const command = csr
    .command('show')
    .argument('<name>')
    .description('show a request beside the Node it is for')
  addOutputOption(addConnectionOptions(command)).action(
    async (name: string, flags: ConnectionFlags & { output: OutputFormat }) => {
      const review = await withApi(io, flags, async ({ client }) =>
        reviewRequest(client, await getRequest(client, name)),
      )
      print(io, flags.output, { text: () => formatReview(review, io.clock.now()), value: asValue(review) })
    },
  )
}

/** The request, the names it asks for, and the addresses the Node has. */
export function formatReview(review: Review, now: number): string {
  const { csr, request, problem, nodeName, node } = review
  const { spec, metadata } = csr
  const lines: string[][] = [
    ['request', metadata.name],
    ['condition', `${conditionText(csr)}, made ${formatAge(now - createdAt(csr, now))} ago`],
    ['signer', spec.signerName],
    ['requester', `${spec.username ?? ''} (${(spec.groups ?? []).join(', ')})`],
    ['usages', spec.usages.join(', ')],
    ...(spec.expirationSeconds ? [['duration', formatAge(spec.expirationSeconds * 1000)]] : []),
    ...(problem ? [['PROBLEM', problem]] : []),
    ...(request
      ? [
          ['subject', formatName(request.subject)],
          ['key', request.keyType],
        ]
      : []),
    ...(request?.oddities ?? []).map(({ code, text }) => ['oddity', `${code}: ${text}`]),
    ...review.claims.map(({ shown, evidence }) => ['claim', `${shown}   ${evidence ?? 'UNPROVEN'}`]),
    ...(nodeName ? [['node', node ? nodeName : `${nodeName}, which does not exist`]] : []),
    ...(node?.status?.addresses ?? []).map(({ type, address }) => ['address', `${type} ${address}`]),
    ...(csr.status?.conditions ?? []).map(condition => [
      condition.type.toLowerCase(),
      `${condition.reason ?? ''}: ${condition.message ?? ''} (${condition.lastUpdateTime ?? 'no time'})`,
    ]),
    ...certificateLines(review),
  ]
  return alignColumns(lines.map(line => line.map(printable)))
}

function certificateLines({ csr }: Review): string[][] {
  const issued = readIssued(csr)
  if (!issued) return []
  if (!issued.ok) return [['certificate', `UNREADABLE: ${issued.problem}`]]
  const { notBefore, notAfter, issuer, serialNumber } = issued.value
  return [
    ['certificate', `valid ${formatTime(notBefore)} to ${formatTime(notAfter)}`],
    ['', `issuer ${formatName(issuer)}, serial ${serialDecimal(serialNumber)}`],
  ]
}

function asValue({ csr, request, problem, nodeName, node, claims }: Review) {
  return {
    request: csr,
    problem,
    subject: request && formatName(request.subject),
    key: request?.keyType,
    oddities: request?.oddities,
    claims,
    node: nodeName,
    nodeAddresses: node?.status?.addresses,
  }
}
