/**
 * The decision log on a disk: appended to in batches, each durable before whoever waits for it goes on; begun anew in a
 * file of its own when one is full. A torn last line, from a crash or a full disk, stays and the next entry tells of it.
 */
import { RollcallError, systemCode } from '../../errors.ts'
import type { Clock, Disk, Random } from '../../ports.ts'
import {
  type AuditEntry,
  type AuditedDecision,
  type AuditStart,
  boundedDecision,
  type ChainPosition,
  noHash,
  sealEntry,
} from './audit-entry.ts'
import { folderOf, fullFiles, fullPath, type LogEnd, readLogEnd } from './log-files.ts'

export type LogDisk = Pick<Disk, 'read' | 'rename' | 'remove' | 'list' | 'syncDirectory'> & {
  append: NonNullable<Disk['append']>
}

export interface DecisionLogOptions {
  /** Of the file that is written to; full ones lie beside it. */
  path: string
  disk: LogDisk
  clock: Clock
  random: Random
  /** Who writes: the leader's identity. */
  writer: string
  /** The newest head that others keep, of whichever chain. */
  published?: ChainPosition | undefined
  /** Bytes after which a file is full; default 16 MiB. */
  mostBytes?: number
  /** Full files that are kept; default 8. */
  mostFiles?: number
}

export interface DecisionLog {
  /** Resolves when the entry is on the disk. Rejects with AUDIT_UNWRITABLE. */
  record(decision: AuditedDecision): Promise<void>
  /** Of the last entry that is on the disk. */
  position(): ChainPosition
}

type Content = ({ kind: 'decision' } & AuditedDecision) | ({ kind: 'start' } & AuditStart)

interface Waiting {
  content: Content
  done: PromiseWithResolvers<void>
}

/** Entries that wait for a disk that does not take them: an approver's workers wait with them, so there are few. */
const mostWaiting = 1000

/** Writes that it begins. Rejects with AUDIT_UNWRITABLE when the log cannot be read or written. */
export async function openDecisionLog(options: DecisionLogOptions): Promise<DecisionLog> {
  const { path, disk, clock, random, writer, published } = options
  const { mostBytes = 16 * 1024 * 1024, mostFiles = 8 } = options
  /** Undefined: what is on the disk has to be looked at first. */
  let end: LogEnd | undefined
  let last: ChainPosition = { chain: Buffer.from(random.bytes(8)).toString('hex'), seq: 0, hash: noHash }
  let waiting: Waiting[] = []
  let draining = false

  function append(content: Content): Promise<void> {
    if (waiting.length >= mostWaiting)
      return Promise.reject(unwritable(path, new Error('too many entries wait for the disk')))
    const done = Promise.withResolvers<void>()
    waiting.push({ content, done })
    if (!draining) void drain()
    return done.promise
  }

  /** One batch after the other; settles each entry's promise. */
  async function drain(): Promise<void> {
    draining = true
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      try {
        await write(batch.map(({ content }) => content))
        for (const { done } of batch) done.resolve()
      } catch (error) {
        for (const { done } of batch) done.reject(unwritable(path, error))
      }
    }
    // In the same turn as the last look: nothing can come in between.
    draining = false
  }

  async function write(contents: readonly Content[]): Promise<void> {
    const known = end
    end = undefined
    const at = known ?? (await readLogEnd(path, disk))
    if (at.position) last = at.position
    const begun = known ? contents : [beginning(at), ...contents]
    if (at.bytes >= mostBytes && at.firstSeq !== undefined) await rotate(at, at.firstSeq)
    const { text, position } = sealed(begun)
    const data = Buffer.from(at.openLine ? `\n${text}` : text)
    // Fails: `end` stays undefined, so what is on the disk now is looked at before anything else is written.
    await disk.append(path, data, { mode: 0o600, sync: true })
    // A file that is new is there after a crash only when its folder says so.
    if (at.bytes === 0) await disk.syncDirectory(folderOf(path))
    end = {
      bytes: at.bytes + data.length,
      firstSeq: at.firstSeq ?? last.seq + 1,
      position,
      openLine: false,
    }
    last = position
  }

  function beginning({ position, torn }: LogEnd): Content {
    const other = published !== undefined && published.chain !== (position ?? last).chain
    return { kind: 'start', writer, ...(other && { after: published }), ...(torn && { torn }) }
  }

  function sealed(contents: readonly Content[]): { text: string; position: ChainPosition } {
    let position = last
    let text = ''
    for (const content of contents) {
      const { chain, hash: prev } = position
      const seq = position.seq + 1
      const time = new Date(clock.now()).toISOString()
      const entry: AuditEntry = { seq, time, chain, prev, ...content }
      const { line, hash } = sealEntry(entry)
      position = { chain, seq, hash }
      text += `${line}\n`
    }
    return { text, position }
  }

  /** Leaves `at` as the end of an empty file. */
  async function rotate(at: LogEnd, firstSeq: number): Promise<void> {
    await disk.rename(path, fullPath(path, firstSeq))
    at.bytes = 0
    at.openLine = false
    delete at.firstSeq
    const full = await fullFiles(path, disk)
    for (const old of full.slice(0, Math.max(0, full.length - mostFiles))) await disk.remove(old)
  }

  await write([]).catch(error => Promise.reject(unwritable(path, error)))
  return {
    record: decision => append({ kind: 'decision', ...boundedDecision(decision) }),
    position: () => last,
  }
}

function unwritable(path: string, cause: unknown): RollcallError {
  const why = systemCode(cause) ?? (cause instanceof Error ? cause.message : String(cause))
  const message = `the decision log ${path} cannot be written (${why}): nothing is decided until it can`
  return new RollcallError('AUDIT_UNWRITABLE', message, { path }, { cause })
}
