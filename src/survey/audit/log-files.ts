/** The files of a decision log: the one that is written to, and full ones beside it, named after their first entry. */
import { systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { type AuditStart, type ChainPosition, openEntry } from './audit-entry.ts'
import type { LogFile } from './verify-chain.ts'

/** `/d/decisions.log` with first entry 1 → `/d/decisions.000000000001.log`: sorted by name is sorted by time. */
export function fullPath(path: string, firstSeq: number): string {
  const [before, after] = aroundNumber(path)
  return `${before}${String(firstSeq).padStart(12, '0')}${after}`
}

function aroundNumber(path: string): [before: string, after: string] {
  const [, stem = path, extension = ''] = /^(.*?)(\.[^./]*)?$/s.exec(path) ?? []
  return [`${stem}.`, extension]
}

export function folderOf(path: string): string {
  const slash = path.lastIndexOf('/')
  return slash < 0 ? '.' : path.slice(0, slash) || '/'
}

/** Paths of the full files, the oldest first. */
export async function fullFiles(path: string, disk: Pick<Disk, 'list'>): Promise<string[]> {
  const slash = path.lastIndexOf('/')
  const names = await disk.list(folderOf(path))
  const [before, after] = aroundNumber(path.slice(slash + 1))
  return names
    .filter(name => name.startsWith(before) && name.endsWith(after))
    .filter(name => /^\d{12,}$/.test(name.slice(before.length, name.length - after.length)))
    .sort()
    .map(name => path.slice(0, slash + 1) + name)
}

/** The files of the log with their text, the oldest first; `latest`: only so many of the newest. */
export async function readLogFiles(
  path: string,
  disk: Pick<Disk, 'list' | 'read'>,
  latest = Number.POSITIVE_INFINITY,
): Promise<LogFile[]> {
  const files: LogFile[] = []
  for (const name of [...(await fullFiles(path, disk)), path].slice(-latest)) {
    const text = await readIfThere(name, disk)
    if (text !== undefined) files.push({ name, text })
  }
  return files
}

/** What a writer goes on from. */
export interface LogEnd {
  /** Of the last entry; absent: there is none. */
  position?: ChainPosition
  /** Of the file that is written to. */
  bytes: number
  firstSeq?: number
  torn?: NonNullable<AuditStart['torn']>
  /** Whether a line break has to come before the next entry. */
  openLine: boolean
}

export async function readLogEnd(path: string, disk: Pick<Disk, 'list' | 'read'>): Promise<LogEnd> {
  const text = (await readIfThere(path, disk)) ?? ''
  const lines = text.split('\n').filter(line => line !== '')
  const end: LogEnd = { bytes: Buffer.byteLength(text), openLine: text !== '' && !text.endsWith('\n') }
  const first = lines.map(openEntry).find(opened => 'entry' in opened)
  if (first && 'entry' in first) end.firstSeq = first.entry.seq
  const broken: string[] = []
  for (const line of lines.toReversed()) {
    const opened = openEntry(line)
    if ('entry' in opened) {
      end.position = positionOf(opened)
      break
    }
    broken.unshift(line)
  }
  const [torn] = broken
  if (torn !== undefined) end.torn = { bytes: Buffer.byteLength(torn), digest: sha256Hex(Buffer.from(torn)) }
  if (end.position) return end
  const before = (await fullFiles(path, disk)).at(-1)
  const older = before === undefined ? undefined : await readLogEnd(before, { ...disk, list: async () => [] })
  return older?.position ? { ...end, position: older.position } : end
}

function positionOf({ entry, hash }: Extract<ReturnType<typeof openEntry>, { hash: string }>): ChainPosition {
  return { chain: entry.chain, seq: entry.seq, hash }
}

async function readIfThere(path: string, disk: Pick<Disk, 'read'>): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await disk.read(path))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
