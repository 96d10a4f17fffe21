import { resolve } from 'node:path'
import type { Command } from 'commander'
import { RollcallError, systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import type { AuditEntry } from '../../survey/audit/audit-entry.ts'
import { readLogFiles } from '../../survey/audit/log-files.ts'
import { type LogFile, verifyChain } from '../../survey/audit/verify-chain.ts'

export type LogReader = Pick<Disk, 'read' | 'list'>

export interface LogFlags {
  log: string[]
}

const standardLog = '.rollcall/decisions.log'

/** Adds `--log`, which may be given several times: each replica writes its own. */
export function addLogOption(command: Command): Command {
  const description = `the decision log; again for those of other replicas (default: ${standardLog})`
  return command.option('--log <file>', description, (file: string, files: string[]) => [...files, file], [])
}

/** The logs, each with its files. Rejects with USAGE when one is not there or may not be read. */
export async function readLogs(
  { log }: LogFlags,
  disk: LogReader,
): Promise<{ path: string; files: LogFile[] }[]> {
  const logs = []
  for (const path of log.length > 0 ? log : [standardLog]) {
    const files = await readLogFiles(resolve(path), disk).catch(error => {
      if (systemCode(error) !== 'ENOENT') throw unreadable(path, systemCode(error) ?? String(error))
      return []
    })
    if (files.length === 0) throw unreadable(path, 'it is not there')
    logs.push({ path, files })
  }
  return logs
}

function unreadable(path: string, why: string): RollcallError {
  return new RollcallError('USAGE', `--log: the decision log ${path} cannot be read (${why}).`, { path })
}

export interface FoundEntries {
  entries: AuditEntry[]
  /** Of a log that is broken: where it ends for whoever trusts it. */
  warnings: string[]
}

/** The entries of all logs that `wanted` takes, up to where a log is broken, by time. */
export function entriesOf(
  logs: readonly { path: string; files: readonly LogFile[] }[],
  wanted: (entry: AuditEntry) => boolean,
): FoundEntries {
  const found: FoundEntries = { entries: [], warnings: [] }
  for (const { files } of logs) {
    const { broken } = verifyChain(files, entry => {
      if (wanted(entry)) found.entries.push(entry)
    })
    if (broken)
      found.warnings.push(
        `${broken.file}:${broken.line} ${broken.why}; what comes after it is not shown, see rollcall audit verify`,
      )
  }
  found.entries.sort((a, b) => (a.time < b.time ? -1 : a.time > b.time ? 1 : a.seq - b.seq))
  return found
}
