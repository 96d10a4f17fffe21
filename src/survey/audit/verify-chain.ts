/** Whether decision logs are whole: every entry follows the one before, and nothing is missing at the end. */
import { sha256Hex } from '../../x509/fingerprint.ts'
import { type AuditEntry, type ChainPosition, noHash, openEntry } from './audit-entry.ts'

/** Lines of one log in order; a file that does not end in a line break ends in a torn line. */
export interface LogFile {
  name: string
  text: string
}

export interface ChainReport {
  entries: number
  /** Of the last good entry; absent: there is none. */
  position?: ChainPosition
  /** The first thing that is wrong, with the place; absent: all is whole. */
  broken?: { file: string; line: number; seq?: number; why: string }
  /** What is worth knowing and no sign of tampering: interrupted writes, entries that were rotated away. */
  notes: readonly string[]
}

/** Reads the files of one chain, the oldest first, up to the first broken entry. */
export function verifyChain(
  files: readonly LogFile[],
  each?: (entry: AuditEntry, hash: string) => void,
): ChainReport {
  const walk = new ChainWalk(each)
  for (const { name, text } of files) {
    const lines = text.split('\n')
    const rest = lines.pop() ?? ''
    for (const [index, line] of lines.entries()) {
      const broken = walk.next(line, { file: name, line: index + 1 })
      if (broken) return walk.report(broken)
    }
    if (rest !== '') walk.interrupted(rest, { file: name, line: lines.length + 1 })
  }
  return walk.report(walk.left())
}

interface Place {
  file: string
  line: number
}

/** A line that is no entry; `whole`: it ended in a line break. */
interface Torn {
  digest: string
  where: Place
  why: string
  whole: boolean
}

type Broken = NonNullable<ChainReport['broken']>

const shown = ({ file, line }: Place) => `${file}:${line}`

class ChainWalk {
  readonly #each: ((entry: AuditEntry, hash: string) => void) | undefined
  readonly #notes: string[] = []
  #entries = 0
  #position: ChainPosition | undefined
  /** A line that is none, which only a `start` that tells of it may follow. */
  #torn: Torn | undefined

  constructor(each: ((entry: AuditEntry, hash: string) => void) | undefined) {
    this.#each = each
  }

  next(line: string, where: Place): Broken | undefined {
    if (line === '') return undefined
    const opened = openEntry(line)
    if ('problem' in opened) {
      if (this.#torn) return this.#unexplained(this.#torn)
      this.#torn = { digest: sha256Hex(Buffer.from(line)), where, why: opened.problem, whole: true }
      return undefined
    }
    const { entry, hash } = opened
    const unexplained = this.#explain(entry)
    if (unexplained) return unexplained
    const why = this.#follows(entry)
    if (why !== undefined) return { ...where, seq: entry.seq, why }
    this.#position = { chain: entry.chain, seq: entry.seq, hash }
    this.#entries++
    this.#each?.(entry, hash)
    return undefined
  }

  /** The file ends here without a line break. */
  interrupted(rest: string, where: Place): void {
    // Only the line break is missing.
    if (!('problem' in openEntry(rest)) && this.next(rest, where) === undefined) return
    const why = 'was not written to its end'
    this.#torn = { digest: sha256Hex(Buffer.from(rest)), where, why, whole: false }
  }

  /** A broken line after which nothing came: in the middle of a write, unless the line was whole. */
  left(): Broken | undefined {
    const torn = this.#torn
    if (torn?.whole) return this.#unexplained(torn)
    if (torn)
      this.#notes.push(`${shown(torn.where)}: the last line ${torn.why} (a crash); it counts for nothing`)
    return undefined
  }

  report(broken: Broken | undefined): ChainReport {
    return {
      entries: this.#entries,
      ...(this.#position && { position: this.#position }),
      ...(broken && { broken }),
      notes: this.#notes,
    }
  }

  #unexplained({ where, why }: Torn): Broken {
    return { ...where, seq: (this.#position?.seq ?? 0) + 1, why }
  }

  /** An interrupted write is excused when the process that came next says so. */
  #explain(entry: AuditEntry): Broken | undefined {
    const torn = this.#torn
    if (!torn) return undefined
    if (entry.kind !== 'start' || entry.torn?.digest !== torn.digest) return this.#unexplained(torn)
    this.#notes.push(`${shown(torn.where)}: a write was interrupted there; the next process says so`)
    this.#torn = undefined
    return undefined
  }

  #follows({ seq, prev, chain }: AuditEntry): string | undefined {
    const before = this.#position
    if (!before) {
      if (seq === 1 && prev !== noHash) return 'is the first entry and names one before it'
      if (seq > 1) this.#notes.push(`begins at entry ${seq}; older ones were rotated away`)
      return undefined
    }
    if (chain !== before.chain) return `is of another chain (${chain}) than the entries before it`
    if (seq !== before.seq + 1)
      return `has number ${seq} after number ${before.seq}: entries are missing or repeated`
    return prev === before.hash ? undefined : 'does not follow the entry before it: that one was replaced'
  }
}
