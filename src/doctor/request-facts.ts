import { AddressIndex } from '../approve/address-index.ts'
import type { AccessReview } from '../approve/facts.ts'
import { judge } from '../approve/judge.ts'
import { readRequest } from '../approve/read-request.ts'
import { subjectNode } from '../approve/subject-node.ts'
import type { Reason } from '../approve/verdict.ts'
import { csrCondition, isApproved, isDenied, isFailed, isIssued } from '../kube/csr-conditions.ts'
import { type CertificateSigningRequest, type KubeNode, signerNames } from '../kube/types.ts'
import { nodeOfUser } from '../survey/node-identity.ts'
import { createdAt, type Reading, readIssuedUnkept, readSpecRequestUnkept } from '../survey/request-facts.ts'
import { commonName } from '../x509/name.ts'
import type { SubjectAltName } from '../x509/san.ts'
import { type IssuedFacts, issuedFacts, type KnownIssuers, withoutSource } from './issued-facts.ts'

export type RequestState = 'undecided' | 'denied' | 'unsigned' | 'failed' | 'issued'

/** A CertificateSigningRequest with what its bytes say. Times in milliseconds since the epoch. */
export interface RequestFacts {
  csr: CertificateSigningRequest
  name: string
  /** Absent: for another signer than the two of the kubelet. */
  kind?: 'client' | 'serving'
  state: RequestState
  created: number
  /** When it was approved, denied or failed. */
  decided?: number
  /** No more of the request than is looked at: 20,000 of them are held at once. */
  asked: Reading<{ commonName: string; subjectAltName: SubjectAltName }>
  /** The node it is for, by its subject. */
  node?: string
  /** No more of the certificate either; `wholeCertificate` reads the rest. */
  issued?: Reading<IssuedFacts>
  /** No later one for the same node and signer. */
  newest: boolean
  /** What stands against approval by the default policy; only of the newest requests for serving certificates that are not approved. */
  objection?: Reason
}

const kinds: Readonly<Record<string, 'client' | 'serving'>> = {
  [signerNames.kubeletClient]: 'client',
  [signerNames.kubeletServing]: 'serving',
}

/** Reads each request once, oldest first. Without Nodes no request is judged. */
export function readRequests(
  requests: readonly CertificateSigningRequest[],
  nodes: readonly KubeNode[] | undefined,
  now: number,
): RequestFacts[] {
  const known: KnownIssuers = { names: new Map(), keys: new Map() }
  const facts = requests.map(csr => readOne(csr, now, known)).sort((a, b) => a.created - b.created)
  const newest = new Map(facts.map(request => [subjectKey(request), request]))
  for (const request of newest.values()) request.newest = true
  if (nodes) judgeServing([...newest.values()], nodes, now)
  return facts
}

function subjectKey({ node, name, csr }: RequestFacts): string {
  return `${csr.spec.signerName} ${node === undefined ? `request ${name}` : `node ${node}`}`
}

function readOne(csr: CertificateSigningRequest, now: number, known: KnownIssuers): RequestFacts {
  const asked = askedOf(csr)
  const issued = readIssuedUnkept(csr)
  const subject = issued?.ok
    ? commonName(issued.value.subject)
    : asked.ok
      ? asked.value.commonName
      : undefined
  const node = nodeOfUser(subject)
  const kind = kinds[csr.spec.signerName]
  const decided = decisionTime(csr)
  return {
    csr,
    name: csr.metadata.name,
    ...(kind && { kind }),
    state: stateOf(csr),
    created: createdAt(csr, now),
    ...(decided !== undefined && { decided }),
    asked,
    ...(node !== undefined && { node }),
    ...(issued && { issued: issued.ok ? { ok: true, value: issuedFacts(issued.value, known) } : issued }),
    newest: false,
  }
}

function askedOf(csr: CertificateSigningRequest): RequestFacts['asked'] {
  const reading = readSpecRequestUnkept(csr)
  if (!reading.ok) return reading
  const { subject, subjectAltName } = reading.value
  return {
    ok: true,
    value: { commonName: commonName(subject), subjectAltName: withoutSource(subjectAltName) },
  }
}

function stateOf(csr: CertificateSigningRequest): RequestState {
  if (isIssued(csr)) return 'issued'
  if (isFailed(csr)) return 'failed'
  if (isDenied(csr)) return 'denied'
  return isApproved(csr) ? 'unsigned' : 'undecided'
}

function decisionTime(csr: CertificateSigningRequest): number | undefined {
  const condition = ['Failed', 'Denied', 'Approved'].map(type => csrCondition(csr, type)).find(Boolean)
  const time = Date.parse(condition?.lastUpdateTime ?? '')
  return Number.isNaN(time) ? undefined : time
}

/**
 * The doctor does not know the approver's policy, so it asks what no policy can waive: names must be on the Node. That an
 * address is a loopback one is no fault in itself.
 */
const policy = {
  evidence: 'NodeStatus',
  allowedRanges: ['127.0.0.0/8', '::1/128', '169.254.0.0/16', 'fe80::/10'],
} as const
/** Judged as it stands now: a request that could still wait counts as not approvable all the same. */
const access: AccessReview = { tried: ['selfnodeclient'], allowed: 'selfnodeclient' }

/** States in which it matters what stands against a request. */
const stuck: readonly RequestState[] = ['undecided', 'denied']

function judgeServing(requests: RequestFacts[], nodes: readonly KubeNode[], now: number): void {
  const claims = new AddressIndex()
  for (const node of nodes) claims.set(node)
  const byName = new Map(nodes.map(node => [node.metadata.name, node]))
  for (const request of requests) {
    if (request.kind !== 'serving' || !stuck.includes(request.state)) continue
    // What was decided is judged as if it were not: the question is what stood against it.
    const csr = { ...request.csr, status: {} }
    const reading = readRequest(csr)
    const name = reading.request && subjectNode(reading.request)
    const node = name === undefined ? undefined : byName.get(name)
    const verdict = judge({ csr, reading, now, claims, policy, access, node })
    const [reason] = verdict.reasons
    if (verdict.outcome !== 'Approve' && reason) request.objection = reason
  }
}
