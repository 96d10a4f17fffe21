/** What the page is told of each node and each request: a row of about a hundred bytes, and facts rather than states, since states change with time alone. Pure. */
import { csrCondition, isApproved, isDenied, isFailed, isIssued } from '../../kube/csr-conditions.ts'
import { fourEyesCondition, heldCondition } from '../../kube/held-conditions.ts'
import { type CertificateSigningRequest, type KubeNode, signerNames } from '../../kube/types.ts'
import { nodeOfUser } from '../../survey/node-identity.ts'
import { createdAt, nodeOfRequest, readIssued, readSpecRequest } from '../../survey/request-facts.ts'
import { namesIn } from '../../survey/requested-names.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { formatName } from '../../x509/name.ts'

/** A certificate's life in seconds since the epoch, and a short mark of the CA that issued it. */
export type LifeRow = [notBefore: number, notAfter: number, issuer: string]

/** 0 unknown, 1 ready, 2 not ready. Times in seconds since the epoch, 0 for none. */
export type NodeRow = [
  name: string,
  ready: 0 | 1 | 2,
  client: LifeRow | 0,
  serving: LifeRow | 0,
  /** When the oldest of its requests was made that nobody decided. */
  waiting: number,
  /** When a request that it made was last refused, by approver or signer. */
  refused: number,
]

export type RequestState = 'pending' | 'held' | 'approved' | 'denied' | 'failed' | 'issued'

export interface RequestRow {
  name: string
  uid: string
  kind: 'client' | 'serving' | 'other'
  state: RequestState
  /** Seconds since the epoch. */
  created: number
  by: string
  node?: string
  /** The names it asks for, in the form `DNS a`, `IP 10.0.0.1`. */
  asks: string[]
  reason?: string
  message?: string
  /** Seconds since the epoch, of the condition that `reason` is from. */
  at?: number
}

export interface Lives {
  client?: LifeRow
  serving?: LifeRow
}

const seconds = (milliseconds: number) => Math.floor(milliseconds / 1000)
/** Names, and characters of a message, that a row holds: the whole is shown with the request. */
const [mostNames, longestMessage] = [8, 200]

const kinds: Record<string, 'client' | 'serving'> = {
  [signerNames.kubeletClient]: 'client',
  [signerNames.kubeletServing]: 'serving',
}

export function kindOfSigner(signerName: string): RequestRow['kind'] {
  return kinds[signerName] ?? 'other'
}

/** Of two certificates the one that begins later; at the same time the one that ends later. */
export function newer(a: LifeRow | undefined, b: LifeRow | undefined): LifeRow | undefined {
  if (!a || !b) return a ?? b
  return b[0] > a[0] || (b[0] === a[0] && b[1] >= a[1]) ? b : a
}

/** What one request tells of the node that it is for, and of the one that made it. */
export interface RequestNews {
  row: RequestRow
  /** The node that the certificate, or else the request, names. */
  subject?: string
  life?: LifeRow
  /** The node that made it: whoever asks for another's name is not that other one. */
  asker?: string
}

/** `now` in milliseconds; counts only for an object without a time of creation. */
export function readNews(csr: CertificateSigningRequest, now: number): RequestNews {
  const issued = readIssued(csr)
  const leaf = issued?.ok ? issued.value : undefined
  const node = nodeOfRequest(csr)
  const request = readSpecRequest(csr)
  const asker = nodeOfUser(csr.spec.username) ?? node
  const row: RequestRow = {
    name: csr.metadata.name,
    uid: csr.metadata.uid ?? '',
    kind: kindOfSigner(csr.spec.signerName),
    state: stateOf(csr),
    created: seconds(createdAt(csr, now)),
    by: csr.spec.username ?? '',
    ...(node !== undefined && { node }),
    asks: request.ok ? namesIn(request.value.subjectAltName).slice(0, mostNames) : [],
    ...decisionOf(csr),
  }
  return {
    row,
    ...(node !== undefined && { subject: node }),
    ...(asker !== undefined && { asker }),
    ...(leaf && { life: [seconds(leaf.notBefore), seconds(leaf.notAfter), markOf(formatName(leaf.issuer))] }),
  }
}

/** A CA that only its name is known of; one that its fingerprint is known of is marked by the beginning of that. */
function markOf(issuer: string): string {
  return `~${sha256Hex(Buffer.from(issuer)).slice(0, 7)}`
}

function stateOf(csr: CertificateSigningRequest): RequestState {
  if (isDenied(csr)) return 'denied'
  if (isFailed(csr)) return 'failed'
  if (isIssued(csr)) return 'issued'
  if (isApproved(csr)) return 'approved'
  return csrCondition(csr, heldCondition) || csrCondition(csr, fourEyesCondition) ? 'held' : 'pending'
}

function decisionOf(csr: CertificateSigningRequest): Pick<RequestRow, 'reason' | 'message' | 'at'> {
  const condition = ['Denied', 'Failed', 'Approved', heldCondition]
    .map(type => csrCondition(csr, type))
    .find(found => found !== undefined)
  if (!condition) return {}
  const { reason, message, lastUpdateTime } = condition
  return {
    ...(reason && { reason }),
    ...(message && { message: message.slice(0, longestMessage) }),
    ...(lastUpdateTime && { at: seconds(Date.parse(lastUpdateTime)) }),
  }
}

const readiness: Record<string, 1 | 2> = { True: 1, False: 2 }

/** One row a node. `lives`: what a ledger knows of a node's certificates. */
export function nodeRows(
  nodes: readonly KubeNode[],
  news: readonly RequestNews[],
  lives: ReadonlyMap<string, Lives>,
): NodeRow[] {
  const about = requestsByNode(news)
  return nodes.map(({ metadata: { name }, status }) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')?.status ?? ''
    const known = lives.get(name) ?? {}
    const { client, serving, waiting = 0, refused = 0 } = about.get(name) ?? {}
    return [
      name,
      readiness[ready] ?? 0,
      // A ledger knows which CA it was, and wins where both tell of one certificate.
      newer(client, known.client) ?? 0,
      newer(serving, known.serving) ?? 0,
      waiting,
      refused,
    ]
  })
}

interface OfNode extends Lives {
  waiting?: number
  refused?: number
}

function requestsByNode(news: readonly RequestNews[]): Map<string, OfNode> {
  const nodes = new Map<string, OfNode>()
  const of = (name: string) => {
    const known = nodes.get(name) ?? {}
    nodes.set(name, known)
    return known
  }
  for (const { row, subject, asker, life } of news) {
    const { state, kind, created, at = created } = row
    if (subject !== undefined && life && kind !== 'other') {
      const node = of(subject)
      const best = newer(node[kind], life)
      if (best) node[kind] = best
    }
    if (asker === undefined) continue
    const node = of(asker)
    if (state === 'pending' || state === 'held') node.waiting = Math.min(node.waiting ?? created, created)
    if (state === 'denied' || state === 'failed') node.refused = Math.max(node.refused ?? 0, at)
  }
  return nodes
}

/** Rows of a state that are sent: of those that wait all but the newest, of those that are answered the latest. */
const mostRows = { open: 1000, refused: 300, issued: 100 }

/** The requests that are shown, and how many there are of each state. */
export function shownRequests(news: readonly RequestNews[]): {
  rows: RequestRow[]
  counts: Partial<Record<RequestState, number>>
} {
  const counts: Partial<Record<RequestState, number>> = {}
  for (const { row } of news) counts[row.state] = (counts[row.state] ?? 0) + 1
  const all = news.map(({ row }) => row)
  const newest = (a: RequestRow, b: RequestRow) => (b.at ?? b.created) - (a.at ?? a.created)
  const of = (...states: RequestState[]) => all.filter(({ state }) => states.includes(state))
  const open = of('pending', 'held', 'approved').sort((a, b) => a.created - b.created)
  const refused = of('denied', 'failed').sort(newest)
  const issued = of('issued').sort(newest)
  return {
    rows: [
      ...open.slice(0, mostRows.open),
      ...refused.slice(0, mostRows.refused),
      ...issued.slice(0, mostRows.issued),
    ],
    counts,
  }
}
