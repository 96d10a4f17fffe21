import { systemCode } from '../errors.ts'
import type { Disk } from '../ports.ts'
import { openEntry } from '../survey/audit/audit-entry.ts'
import { fullFiles } from '../survey/audit/log-files.ts'

export interface RecentDecision {
  seq: number
  time: string
  outcome: string
  reason: string
  message: string
  request: string
  node: string
  requester: string
  signer: string
  sans: { name: string; proof: string }[]
  policy: string
  decidedBy: string
}

export interface RecentDecisions {
  /** The latest first. */
  decisions: RecentDecision[]
  /** Lines among them that are no entries, or were changed. */
  broken: number
}

export type RecentDisk = Pick<Disk, 'read' | 'readRange' | 'stat' | 'list'>

/** Bytes at the end of a file that are looked at. */
const tail = 512 * 1024

/**
 * The latest decisions of the log at `path`; none where there is no log yet. Of the file that is written to and of the one
 * that was full before it only the ends are read, however long they are.
 */
export async function recentDecisions(
  path: string,
  disk: RecentDisk,
  most: number,
): Promise<RecentDecisions> {
  const recent: RecentDecisions = { decisions: [], broken: 0 }
  await addFrom(path, disk, most, recent)
  if (recent.decisions.length >= most) return recent
  const [before] = (await fullFiles(path, disk).catch(noneIfMissing)).slice(-1)
  if (before !== undefined) await addFrom(before, disk, most, recent)
  return recent
}

function noneIfMissing(error: unknown): [] {
  if (systemCode(error) === 'ENOENT') return []
  throw error
}

async function addFrom(path: string, disk: RecentDisk, most: number, recent: RecentDecisions): Promise<void> {
  const lines = await lastLines(path, disk).catch(noneIfMissing)
  for (const line of lines.toReversed()) {
    if (recent.decisions.length >= most) return
    const opened = openEntry(line)
    if ('problem' in opened) recent.broken++
    else if (opened.entry.kind === 'decision') recent.decisions.push(shown(opened.entry))
  }
}

/** Whole lines. Rejects as the disk does. */
async function lastLines(path: string, disk: RecentDisk): Promise<string[]> {
  const { kind, size } = await disk.stat(path)
  const isCut = kind === 'file' && size > tail && disk.readRange !== undefined
  const bytes = isCut ? await disk.readRange?.(path, size - tail, tail) : await disk.read(path)
  const lines = new TextDecoder().decode(bytes).split('\n').filter(Boolean)
  return isCut ? lines.slice(1) : lines
}

type Decision = Extract<
  Extract<ReturnType<typeof openEntry>, { entry: unknown }>['entry'],
  { kind: 'decision' }
>

function shown({
  seq,
  time,
  outcome,
  reasons,
  message,
  request,
  node,
  requester,
  signer,
  ...rest
}: Decision) {
  const { sans, policy, decidedBy } = rest
  return {
    seq,
    time,
    outcome,
    reason: reasons[0] ?? '',
    message,
    request: request.name,
    node: node ?? '',
    requester,
    signer,
    sans: sans.map(({ name, proofs }) => ({ name, proof: proofs[0]?.level ?? '' })),
    policy: policy ? `${policy.name} ${policy.revision}`.trim() : '',
    decidedBy: decidedBy ?? '',
  }
}
