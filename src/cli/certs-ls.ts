import type { Command } from 'commander'
import { parseGoDuration } from '../cluster/go-duration.ts'
import { listAll } from '../kube/client.ts'
import { formatAge } from '../kube/time-format.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import { readLedger } from '../sign/served-ledger.ts'
import { type ListedCertificate, listCertificates } from '../survey/certificate-list.ts'
import type { CommandIo, ConnectionFlags } from './command-io.ts'
import { addConnectionOptions } from './connect-kubeconfig.ts'
import { signerShown } from './csr/requests.ts'
import { formatCsv } from './csv.ts'
import { addListOutputOption, type ListFormat, print } from './output.ts'
import { type Column, formatTable } from './table.ts'
import { withApi } from './with-api.ts'

interface LsFlags extends ConnectionFlags {
  output: ListFormat
  node?: string
}

export function register(certs: Command, io: CommandIo): void {
  const ls = certs
    .command('ls')
    .alias('list')
    .description(
      'list the certificates that requests still hold or a ledger remembers, the one that ends first at the top',
    )
    .option('--node <name>', 'only of this node')
  addListOutputOption(addConnectionOptions(ls)).action(async (flags: LsFlags) => {
    printList(io, flags, await gather(io, flags))
  })
  const expiring = certs
    .command('expiring')
    .description('list those that have ended or are about to (exit 3: there are some)')
    .option('--node <name>', 'only of this node')
    .option(
      '--within <duration>',
      'that end within this time, e.g. 12h, 7d; default: 90 % of their life is over',
    )
  addListOutputOption(addConnectionOptions(expiring)).action(async (flags: LsFlags & { within?: string }) => {
    const within = flags.within === undefined ? undefined : parseDays(flags.within) * 1000
    const now = io.clock.now()
    const due = (await gather(io, flags)).filter(({ notAfter, used }) =>
      within === undefined ? used >= 0.9 : Date.parse(notAfter) - now <= within,
    )
    printList(io, flags, due)
    if (due.length > 0) io.exitWith(3)
  })
}

/** Seconds; `7d` as well as Go's durations. */
function parseDays(text: string): number {
  const days = /^(\d+)d$/.exec(text)?.[1]
  return parseGoDuration(days === undefined ? text : `${Number(days) * 24}h`, '--within')
}

async function gather(io: CommandIo, flags: LsFlags): Promise<ListedCertificate[]> {
  const [{ items }, { leaves }] = await withApi(io, flags, ({ client }) =>
    Promise.all([
      listAll<CertificateSigningRequest>(client, resources.certificateSigningRequests),
      readLedger(client),
    ]),
  )
  const all = listCertificates(items, io.clock.now(), leaves)
  return flags.node === undefined ? all : all.filter(({ node }) => node === flags.node)
}

function printList(io: CommandIo, { output }: LsFlags, list: readonly ListedCertificate[]): void {
  if (output === 'csv') {
    io.stdout(formatCsv(csvColumns, list.map(csvCells)))
    return
  }
  const now = io.clock.now()
  const columns: Column<ListedCertificate>[] = [
    { title: 'node', cell: ({ node, subject }) => node ?? subject },
    { title: 'signer', cell: ({ signerName }) => signerShown(signerName) },
    {
      title: 'left',
      cell: ({ expired, notAfter }) => (expired ? 'expired' : formatAge(Date.parse(notAfter) - now)),
    },
    { title: 'used', cell: ({ used }) => `${Math.floor(used * 100)}%` },
    { title: 'expires', cell: ({ notAfter }) => notAfter },
    { title: 'request', cell: ({ request }) => request },
    { title: 'names', cell: ({ names }) => names.join(', '), wide: true },
    { title: 'issuer', cell: ({ issuer }) => issuer, wide: true },
    { title: 'serial', cell: ({ serialNumber }) => serialNumber, wide: true },
  ]
  print(io, output, { text: wide => formatTable(columns, list, wide), value: list })
}

/** Stable: scripts read them by name. */
const csvColumns = [
  'node',
  'signer',
  'subject',
  'names',
  'notBefore',
  'notAfter',
  'expired',
  'used',
  'request',
  'issuer',
  'serial',
]

function csvCells(of: ListedCertificate): string[] {
  const { node = '', signerName, subject, names, notBefore, notAfter, expired, used } = of
  const life = [notBefore, notAfter, String(expired), used.toFixed(3)]
  return [node, signerName, subject, names.join(', '), ...life, of.request, of.issuer, of.serialNumber]
}
