import { isApproved, isDenied, isFailed, isIssued } from '../kube/csr-conditions.ts'
import { formatTime } from '../kube/time-format.ts'
import { type CertificateSigningRequest, type KubeNode, signerNames } from '../kube/types.ts'
import type { Leaf } from '../sign/leaf.ts'
import { formatName } from '../x509/name.ts'
import { serialDecimal } from '../x509/serial-number.ts'
import { nodeOfSubject, nodeOfUser } from './node-identity.ts'
import { createdAt, nodeOfRequest, readIssued } from './request-facts.ts'

/** A certificate the cluster knows of: the request it answers is still there, or a ledger remembers it. */
export interface KnownCertificate {
  /** The request that it answered, which may be gone. */
  request: string
  serialNumber: string
  issuer: string
  /** RFC 3339. */
  notBefore: string
  /** RFC 3339. */
  notAfter: string
  expired: boolean
  /** How much of its life is over, 0 to 1 and beyond. */
  used: number
}

/** Share of a life after which a kubelet has renewed (K-33), and what a renewal may take beyond. */
export const overdueShare = 0.95

/** Whether somebody has to look after it. */
export function standingOf({ expired, used }: KnownCertificate): 'valid' | 'overdue' | 'expired' {
  if (expired) return 'expired'
  return used > overdueShare ? 'overdue' : 'valid'
}

export type Readiness = 'Ready' | 'NotReady' | 'Unknown'

export interface NodeSurvey {
  name: string
  readiness: Readiness
  /** The Ready condition's reason, where it is not ready. */
  reason?: string
  created?: string
  /** Of its kubelet or agent, as it says itself. */
  version?: string
  addresses: { type: string; address: string }[]
  /** Absent: no request with a certificate is kept (Kubernetes deletes them an hour after issuance, C-40), nor a ledger. */
  client?: KnownCertificate
  serving?: KnownCertificate
  /** Names of its requests that nobody decided yet, oldest first. */
  pending: string[]
}

export interface WaitingRequest {
  name: string
  signerName: string
  requester: string
  node?: string
  created: string
  ageSeconds: number
}

export interface ClusterSurvey {
  nodes: NodeSurvey[]
  requests: {
    /** Undecided for longer than a minute, oldest first. */
    pending: WaitingRequest[]
    /** Undecided for less than that: probably being worked on. */
    fresh: number
    /** Approved for longer than a minute and neither signed nor failed. */
    unsigned: WaitingRequest[]
    failed: number
    denied: number
    issued: number
  }
  /** The certificate of a node that runs out first, of those still valid. */
  nextExpiry?: { node: string; kind: 'client' | 'serving'; notAfter: string }
  /** Certificates that are there but cannot be read. */
  unreadable: { request: string; problem: string }[]
}

/** Milliseconds a request may take before it counts as waiting for somebody. */
const PATIENCE = 60_000

const kinds: Record<string, 'client' | 'serving'> = {
  [signerNames.kubeletClient]: 'client',
  [signerNames.kubeletServing]: 'serving',
}

/**
 * What Nodes, CertificateSigningRequests and the ledger's `leaves` tell about a cluster's node certificates. `now` in
 * milliseconds since the epoch.
 */
export function surveyCluster(
  nodes: readonly KubeNode[],
  requests: readonly CertificateSigningRequest[],
  now: number,
  leaves: readonly Leaf[] = [],
): ClusterSurvey {
  const byAge = requests.toSorted((a, b) => createdAt(a, now) - createdAt(b, now))
  const surveyed = new Map(nodes.map(node => [node.metadata.name, surveyNode(node)]))
  const unreadable: ClusterSurvey['unreadable'] = []
  for (const leaf of leaves) {
    const kind = kinds[leaf.signerName]
    const node = surveyed.get(nodeOfUser(leaf.holder) ?? '')
    if (kind && node) keepNewest(node, kind, describeLeaf(leaf, now))
  }
  for (const csr of byAge) {
    const kind = kinds[csr.spec.signerName]
    const issued = readIssued(csr)
    if (issued && !issued.ok) unreadable.push({ request: csr.metadata.name, problem: issued.problem })
    const subjectNode = issued?.ok ? nodeOfSubject(issued.value.subject) : nodeOfRequest(csr)
    const node = surveyed.get(subjectNode ?? '')
    if (!kind || !node) continue
    if (issued?.ok) {
      keepNewest(node, kind, describe(csr, issued.value, now))
    } else if (isUndecided(csr)) node.pending.push(csr.metadata.name)
  }
  const list = [...surveyed.values()].sort((a, b) => (a.name < b.name ? -1 : 1))
  const next = nextExpiry(list)
  return { nodes: list, requests: countRequests(byAge, now), ...(next && { nextExpiry: next }), unreadable }
}

/** Whether a request waits for an approval or denial. */
export function isUndecided(csr: CertificateSigningRequest): boolean {
  return !isApproved(csr) && !isDenied(csr) && !isIssued(csr) && !isFailed(csr)
}

function surveyNode({ metadata, status }: KubeNode): NodeSurvey {
  const ready = status?.conditions?.find(condition => condition.type === 'Ready')
  const readiness = ready?.status === 'True' ? 'Ready' : ready?.status === 'False' ? 'NotReady' : 'Unknown'
  return {
    name: metadata.name,
    readiness,
    ...(readiness !== 'Ready' && ready?.reason && { reason: ready.reason }),
    ...(metadata.creationTimestamp && { created: metadata.creationTimestamp }),
    ...(status?.nodeInfo?.kubeletVersion && { version: status.nodeInfo.kubeletVersion }),
    addresses: (status?.addresses ?? []).map(({ type, address }) => ({ type, address })),
    pending: [],
  }
}

/** Of two that begin at the same time the later one told: what a request holds was handed out, a leaf perhaps not. */
function keepNewest(node: NodeSurvey, kind: 'client' | 'serving', known: KnownCertificate): void {
  const held = node[kind]
  if (!held || Date.parse(held.notBefore) <= Date.parse(known.notBefore)) node[kind] = known
}

/** `now` in milliseconds since the epoch. */
export function describeLeaf(leaf: Leaf, now: number): KnownCertificate {
  const { request, serialNumber, issuer } = leaf
  return {
    request: request.name,
    serialNumber: serialDecimal(Buffer.from(serialNumber, 'hex')),
    issuer,
    ...lifeOf(leaf, now),
  }
}

function describe(
  csr: CertificateSigningRequest,
  certificate: Extract<ReturnType<typeof readIssued>, { ok: true }>['value'],
  now: number,
): KnownCertificate {
  return {
    request: csr.metadata.name,
    serialNumber: serialDecimal(certificate.serialNumber),
    issuer: formatName(certificate.issuer),
    ...lifeOf(certificate, now),
  }
}

/** Times in milliseconds since the epoch. */
function lifeOf({ notBefore, notAfter }: { notBefore: number; notAfter: number }, now: number) {
  return {
    notBefore: formatTime(notBefore),
    notAfter: formatTime(notAfter),
    expired: now > notAfter,
    used: (now - notBefore) / (notAfter - notBefore),
  }
}

function countRequests(byAge: readonly CertificateSigningRequest[], now: number): ClusterSurvey['requests'] {
  const undecided = byAge.filter(isUndecided)
  const late = (csr: CertificateSigningRequest) => now - createdAt(csr, now) > PATIENCE
  const approvedAt = (csr: CertificateSigningRequest) => {
    const time = csr.status?.conditions?.find(condition => condition.type === 'Approved')?.lastUpdateTime
    return time ? Date.parse(time) : createdAt(csr, now)
  }
  const unsigned = byAge.filter(
    csr =>
      isApproved(csr) &&
      !isDenied(csr) &&
      !isIssued(csr) &&
      !isFailed(csr) &&
      now - approvedAt(csr) > PATIENCE,
  )
  const pending = undecided.filter(late)
  return {
    pending: pending.map(csr => waiting(csr, now)),
    fresh: undecided.length - pending.length,
    unsigned: unsigned.map(csr => waiting(csr, now)),
    failed: byAge.filter(isFailed).length,
    denied: byAge.filter(isDenied).length,
    issued: byAge.filter(isIssued).length,
  }
}

function waiting(csr: CertificateSigningRequest, now: number): WaitingRequest {
  const node = nodeOfRequest(csr)
  const created = createdAt(csr, now)
  return {
    name: csr.metadata.name,
    signerName: csr.spec.signerName,
    requester: csr.spec.username ?? '',
    ...(node && { node }),
    created: formatTime(created),
    ageSeconds: Math.floor((now - created) / 1000),
  }
}

function nextExpiry(nodes: readonly NodeSurvey[]): ClusterSurvey['nextExpiry'] {
  let next: ClusterSurvey['nextExpiry']
  for (const node of nodes) {
    for (const kind of ['client', 'serving'] as const) {
      const certificate = node[kind]
      if (!certificate || certificate.expired) continue
      if (!next || Date.parse(certificate.notAfter) < Date.parse(next.notAfter)) {
        next = { node: node.name, kind, notAfter: certificate.notAfter }
      }
    }
  }
  return next
}
