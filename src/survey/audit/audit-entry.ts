/**
 * One line of the decision log. Each line is a JSON object whose last member `hash` is the SHA-256 of the line without
 * that member, and whose `prev` is the hash of the line before: what was written cannot be changed, left out or put in
 * between without breaking the chain from there on.
 */
import { sha256Hex } from '../../x509/fingerprint.ts'

/** Where a chain has come to. */
export interface ChainPosition {
  /** Of the chain: 16 hexadecimal digits, drawn when its first entry is written. */
  chain: string
  /** Of its last entry, from 1. */
  seq: number
  hash: string
}

/** What was decided about one request, as far as it can be told afterwards. */
export interface AuditedDecision {
  request: { name: string; uid: string }
  signer: string
  requester: string
  /** That the subject names; absent when it names none. */
  node?: string
  outcome: string
  /** Reason codes, the deciding one first. */
  reasons: readonly string[]
  message: string
  sans: readonly AuditedSan[]
  /** Further ones that were asked for, of what was not approved. */
  sansLeftOut?: number
  /** `revision` changes with what the policy says: generation or digest. */
  policy?: { name: string; revision: string }
  /** Who decided, where that is somebody else. */
  decidedBy?: string
  /** So many refusals of this requester for this reason within the hour, of which the last ones were not kept. */
  repeated?: number
}

export interface AuditedSan {
  /** Canonical form: lower case without a dot at the end, addresses as Go prints them. */
  name: string
  /** Strongest first; empty: nothing proves it. */
  proofs: readonly { level: string; source: string }[]
}

/** A process begins to write. */
export interface AuditStart {
  writer: string
  /** The head that was published when it began and is not of this chain: of a leader with another disk. */
  after?: ChainPosition
  /** The line before is no entry: a write was interrupted. */
  torn?: { bytes: number; digest: string }
}

export type AuditEntry = { seq: number; time: string; chain: string; prev: string } & (
  | ({ kind: 'decision' } & AuditedDecision)
  | ({ kind: 'start' } & AuditStart)
)

/** What comes before the first entry. */
export const noHash = '0'.repeat(64)
/** Characters of each text that are kept. */
const longestText = 1024
/** Characters of the SANs of what was not approved: what a node only asks for must not push out what was decided before. */
const mostRefused = 4096

/** The line, without a line break, and its hash. */
export function sealEntry(entry: AuditEntry): { line: string; hash: string } {
  const body = JSON.stringify(entry)
  const hash = sha256Hex(Buffer.from(body))
  return { line: `${body.slice(0, -1)},"hash":"${hash}"}`, hash }
}

const sealed = /^(.*),"hash":"([0-9a-f]{64})"\}$/s

/** The entry of a line, or why it is none. The hash is checked, the place in the chain is not. */
export function openEntry(line: string): { entry: AuditEntry; hash: string } | { problem: string } {
  const [, body, hash] = sealed.exec(line) ?? []
  if (body === undefined || hash === undefined) return { problem: 'is no entry: it does not end in its hash' }
  if (sha256Hex(Buffer.from(`${body}}`)) !== hash) return { problem: 'was changed: its hash is another' }
  try {
    const entry = JSON.parse(`${body}}`) as AuditEntry
    if (Number.isSafeInteger(entry.seq) && typeof entry.prev === 'string' && typeof entry.chain === 'string')
      return { entry, hash }
  } catch {
    // Said below: whoever made the hash fit wrote no entry all the same.
  }
  return { problem: 'is no entry' }
}

/** The decision with its parts cut to what an entry may hold. All names that were approved stay. */
export function boundedDecision(decision: AuditedDecision): AuditedDecision {
  const { request, outcome } = decision
  const all = decision.sans.map(({ name, proofs }) => ({
    name: cut(name),
    proofs: proofs.map(({ level, source }) => ({ level, source: cut(source) })),
  }))
  const sans = outcome === 'Approve' ? all : fitting(all)
  const leftOut = all.length - sans.length
  const texts = Object.entries(decision).map(([member, value]) => [
    member,
    typeof value === 'string' ? cut(value) : value,
  ])
  return {
    ...(Object.fromEntries(texts) as AuditedDecision),
    request: { name: cut(request.name), uid: cut(request.uid) },
    sans,
    ...(leftOut > 0 && { sansLeftOut: leftOut }),
  }
}

const cut = (text: string) => text.slice(0, longestText)

function fitting(sans: readonly AuditedSan[]): AuditedSan[] {
  let room = mostRefused
  return sans.filter(san => {
    room -= JSON.stringify(san).length
    return room >= 0
  })
}
