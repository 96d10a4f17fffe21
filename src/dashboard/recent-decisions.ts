import { systemCode } from '../errors.ts'
import type { Disk } from '../ports.ts'
import { openEntry } from '../survey/audit/audit-entry.ts'

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

/** Bytes at the end of the log that are looked at. */
const tail = 512 * 1024

/** The latest decisions of the log at `path`; none where there is no log yet. */
export async function recentDecisions(
  path: string,
  disk: Pick<Disk, 'read'>,
  most: number,
): Promise<RecentDecisions> {
  const bytes = await disk.read(path).catch(error => {
    if (systemCode(error) === 'ENOENT') return new Uint8Array()
    throw error
  })
  const text = new TextDecoder().decode(bytes.subarray(-tail))
  const lines = text.split('\n').filter(Boolean)
  // The first line of a tail is cut.
  if (bytes.length > tail) lines.shift()
  const decisions: RecentDecision[] = []
  let broken = 0
  for (const line of lines.toReversed()) {
    if (decisions.length >= most) break
    const opened = openEntry(line)
    if ('problem' in opened) broken++
    else if (opened.entry.kind === 'decision') decisions.push(shown(opened.entry))
  }
  return { decisions, broken }
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
