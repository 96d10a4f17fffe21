import { resolve } from 'node:path'
import type { Command } from 'commander'
import { RollcallError, systemCode } from '../../errors.ts'
import { readHeads } from '../../survey/audit/publish-head.ts'
import { headKeyDigest, keptHeads, type SignedHead } from '../../survey/audit/signed-head.ts'
import { type LogReport, verifyAgainst } from '../../survey/audit/verify-log.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { printable } from '../printable.ts'
import { withApi } from '../with-api.ts'
import { addLogOption, type LogFlags, type LogReader, readLogs } from './read-logs.ts'

interface VerifyFlags extends LogFlags, ConnectionFlags {
  output: OutputFormat
  key?: string
  offline?: boolean
  heads?: string
}

interface Verified {
  logs: (LogReport & { path: string })[]
  /** What could not be looked at. */
  unchecked: string[]
}

export function register(audit: Command, io: CommandIo, disk: LogReader): void {
  const command = audit
    .command('verify')
    .description(
      'say whether the log is whole and ends where its published head says (exit 3: it is not, 4: the head could not be checked)',
    )
    .option(
      '--key <sha256>',
      "trust heads by this key alone: SHA-256 of the controller's public key, hexadecimal",
    )
    .option(
      '--heads <file>',
      'compare with the heads that the receiver of --head-webhook kept too: a JSON object a line',
    )
    .option('--offline', 'do not ask the cluster for the published heads')
  addOutputOption(addConnectionOptions(addLogOption(command))).action(async (flags: VerifyFlags) => {
    const verified = await verify(flags, io, disk)
    print(io, flags.output, {
      text: () => verified.logs.map(textOf).join('') + unchecked(verified),
      value: verified,
    })
    const bad = verified.logs.some(({ report, problems }) => report.broken || problems.length > 0)
    io.exitWith(bad ? 3 : verified.unchecked.length > 0 ? 4 : 0)
  })
}

async function verify(flags: VerifyFlags, io: CommandIo, disk: LogReader): Promise<Verified> {
  const files = await readLogs(flags, disk)
  const unchecked: string[] = []
  const heads = await publishedHeads(flags, io).catch((error): SignedHead[] => {
    if (!(error instanceof Error)) throw error
    // Those that somebody else kept are there instead.
    if (flags.offline && flags.heads !== undefined) return []
    unchecked.push(`the published heads: ${error.message}`)
    return []
  })
  const kept = await keptElsewhere(flags, disk)
  for (const line of kept.others.slice(0, mostLines))
    unchecked.push(`line ${line} of ${flags.heads}, which is no head`)
  for (const line of disagreeing(kept.heads)) unchecked.push(line)
  const all = [...heads, ...kept.heads].sort((a, b) => b.seq - a.seq)
  const logs = files.map(({ path, files }) => ({ path, ...verifyAgainst(files, all, flags.key) }))
  for (const { path, report, head, problems } of logs)
    if (!head && problems.length === 0 && !report.broken && unchecked.length === 0)
      unchecked.push(`where ${path} has to end: no head of its chain is published`)
  for (const { chain, seq, time } of newestOfChains(all))
    if (!logs.some(({ report }) => report.position?.chain === chain))
      unchecked.push(
        `chain ${chain}, whose head ${seq} was published at ${time}: give that replica's --log too`,
      )
  return { logs, unchecked }
}

/** Lines of a file of heads that are told one by one. */
const mostLines = 10

async function keptElsewhere(
  { heads: path }: VerifyFlags,
  disk: LogReader,
): Promise<ReturnType<typeof keptHeads>> {
  if (path === undefined) return { heads: [], others: [] }
  try {
    return keptHeads(new TextDecoder().decode(await disk.read(resolve(path))))
  } catch (error) {
    throw new RollcallError(
      'USAGE',
      `--heads: ${path} cannot be read (${systemCode(error) ?? String(error)}).`,
      { path },
    )
  }
}

/** A controller signs with one key: with two, one of them is somebody else's or was lost, and only --key tells which. */
function disagreeing(heads: readonly SignedHead[]): string[] {
  return [...Map.groupBy(heads, ({ chain }) => chain)].flatMap(([chain, of]) => {
    const keys = [...new Set(of.map(headKeyDigest))]
    return keys.length > 1
      ? [
          `chain ${chain}, whose heads are signed by ${keys.length} keys (${keys.join(', ')}): say which by --key`,
        ]
      : []
  })
}

/** Of each chain the first, which is the newest. */
const newestOfChains = (heads: readonly SignedHead[]) => [
  ...new Map(heads.toReversed().map(head => [head.chain, head])).values(),
]

function publishedHeads(flags: VerifyFlags, io: CommandIo): Promise<SignedHead[]> {
  if (flags.offline) return Promise.reject(new RollcallError('USAGE', 'not asked for (--offline)'))
  return withApi(io, flags, ({ client }) => readHeads(client))
}

function textOf({ path, report, problems, head }: Verified['logs'][number]): string {
  const { broken, entries, position, notes } = report
  const lines = [
    `${path}: ${entries} entries${position ? `, chain ${position.chain} up to ${position.seq}` : ''}`,
    ...notes,
    ...(broken
      ? [`BROKEN at entry ${broken.seq ?? '?'} (${broken.file}:${broken.line}): it ${broken.why}`]
      : []),
    ...problems.map(problem => `WRONG: ${problem}`),
    ...(head ? [`head ${head.seq} of ${head.time}, signed by key ${headKeyDigest(head)}`] : []),
    ...(broken || problems.length > 0 ? [] : ['whole']),
  ]
  return lines.map((line, index) => `${index > 0 ? '  ' : ''}${printable(line)}\n`).join('')
}

const unchecked = ({ unchecked }: Verified) =>
  unchecked.map(what => `unchecked ${printable(what)}\n`).join('')
