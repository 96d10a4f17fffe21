/** Gathers facts about each undecided request, has it judged, and writes the verdict to /approval. */
import { isStatus, type KubeClient } from '../kube/client.ts'
import type { ChangeType } from '../kube/object-cache.ts'
import { startReflector } from '../kube/reflector.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../kube/types.ts'
import { retryDelay, startWorkQueue } from '../kube/work-queue.ts'
import type { Clock, Log, Random } from '../ports.ts'
import { reviewAccess } from './access-review.ts'
import { AddressIndex } from './address-index.ts'
import type { Facts } from './facts.ts'
import { judge, wantsAccessReview } from './judge.ts'
import { type ApprovalPolicy, checkPolicy } from './policy.ts'
import { readRequest } from './read-request.ts'
import { RequestMemory } from './request-memory.ts'
import { kindOf } from './rules/our-signer.ts'
import { isUndecided } from './rules/undecided.ts'
import { subjectNode } from './subject-node.ts'
import type { Reason, Verdict } from './verdict.ts'

export interface ApprovalOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  policy?: ApprovalPolicy | undefined
  /** Seconds after which the server is asked to end a watch; absent: 300–600 at random. */
  watchTimeoutSeconds?: number | undefined
  /** The request as the cache has it, by name. */
  cached(name: string): CertificateSigningRequest | undefined
  /** Makes an Event on the request. */
  report(csr: CertificateSigningRequest, type: 'Normal' | 'Warning', reason: Reason): void
  /** Told every verdict that took effect, and every new reason for leaving a request pending. */
  onVerdict?(csr: CertificateSigningRequest, verdict: Verdict): void
}

export interface ApprovalController {
  /** To be called for every change of a CertificateSigningRequest, after the cache has it. */
  csrChanged(type: ChangeType, csr: CertificateSigningRequest): void
  stop(): Promise<void>
}

/** C-2. */
const workers = 5
/** Of writing one verdict, when others write at the same time. */
const mostConflicts = 5

/** Throws RollcallError POLICY_INVALID. */
export function startApprovalController(options: ApprovalOptions): ApprovalController {
  const { client, clock, random, log, policy, cached } = options
  if (policy) checkPolicy(policy)
  const claims = new AddressIndex()
  const memory = new RequestMemory()
  const queue = startWorkQueue({ name: 'approval', workers, clock, log, process: work })
  const nodes = startReflector<KubeNode>({
    client,
    resource: resources.nodes,
    clock,
    random,
    log,
    ...(options.watchTimeoutSeconds && { watchSeconds: options.watchTimeoutSeconds }),
    project: addressesOnly,
    onChange(type, node) {
      if (type === 'DELETED') claims.remove(node.metadata.name)
      else claims.set(node)
      for (const name of memory.followers(node.metadata.name)) queue.add(name)
    },
  })

  /** Milliseconds until the request is to be looked at again, or undefined. */
  async function work(name: string, signal: AbortSignal): Promise<number | undefined> {
    const again = await approve(name, signal)
    // Deleted while it was judged: nobody else would forget it.
    if (!cached(name)) memory.forget(name)
    return again
  }

  async function approve(name: string, signal: AbortSignal): Promise<number | undefined> {
    let csr = cached(name)
    if (!csr || memory.isWritten(csr)) return undefined
    // An address is free only when every Node was seen.
    if (kindOf(csr) === 'serving') await nodes.synced
    for (let conflicts = 0; !signal.aborted; conflicts++) {
      const verdict = await verdictOf(csr, signal)
      if (verdict.outcome !== 'Approve' && verdict.outcome !== 'Deny') return leavePending(csr, verdict)
      try {
        await client.update(resources.certificateSigningRequests, decided(csr, verdict), {
          subresource: 'approval',
          signal,
        })
        memory.markWritten(csr)
        announce(csr, verdict)
        return undefined
      } catch (error) {
        if (isStatus(error, 'NotFound')) return undefined
        if (!isStatus(error, 'Conflict') || conflicts >= mostConflicts) throw error
        // Somebody else wrote first: judge what is there now. Decided by another is as good as done.
        csr = await client.get<CertificateSigningRequest>(
          resources.certificateSigningRequests,
          { name },
          signal,
        )
        if (!isUndecided(csr)) return undefined
      }
    }
    return undefined
  }

  async function verdictOf(csr: CertificateSigningRequest, signal: AbortSignal): Promise<Verdict> {
    const reading = readRequest(csr)
    const nodeName = reading.request && subjectNode(reading.request)
    // Before the Node is looked at: a change while this is judged must bring the request back.
    if (nodeName !== undefined && kindOf(csr) === 'serving') memory.follow(csr.metadata.name, nodeName)
    const node = nodeName === undefined ? undefined : nodes.get(nodeName)
    let facts: Facts = { csr, reading, now: clock.now(), node, claims, policy }
    if (nodeName !== undefined && wantsAccessReview(facts))
      facts = { ...facts, access: await reviewAccess(client, csr, nodeName, signal) }
    return judge(facts)
  }

  function leavePending(csr: CertificateSigningRequest, verdict: Verdict): number | undefined {
    if (memory.isNews(csr, verdict)) announce(csr, verdict)
    if (verdict.until !== undefined) return verdict.until - clock.now()
    // C-14: with backoff, so that access granted later is seen without a new request.
    return verdict.outcome === 'Retry' ? retryDelay(memory.countRetry(csr.metadata.name)) : undefined
  }

  function announce(csr: CertificateSigningRequest, verdict: Verdict): void {
    const [first, ...warnings] = verdict.reasons
    const { outcome } = verdict
    if (first) options.report(csr, outcome === 'Approve' || outcome === 'Wait' ? 'Normal' : 'Warning', first)
    for (const warning of warnings) options.report(csr, 'Warning', warning)
    const { signerName, username: requester } = csr.spec
    const fields = { csr: csr.metadata.name, signerName, requester, outcome, ...first }
    log.info('judged a certificate signing request', fields)
    options.onVerdict?.(csr, verdict)
  }

  return {
    csrChanged(type, { metadata: { name } }) {
      const csr = cached(name)
      const judgeable = csr !== undefined && kindOf(csr) !== undefined && isUndecided(csr)
      // A deletion may be followed at once by a new request of the same name, which owes the old one nothing.
      if (type === 'DELETED' || !judgeable) memory.forget(name)
      if (judgeable) queue.add(name)
    },
    async stop() {
      await Promise.all([queue.stop(), nodes.stop()])
    },
  }
}

/** 5000 Nodes take a sixth of the memory so. */
function addressesOnly({ apiVersion, kind, metadata, status }: KubeNode): KubeNode {
  const { name, uid, resourceVersion } = metadata
  return {
    apiVersion,
    kind,
    metadata: { name, ...(uid ? { uid } : {}), ...(resourceVersion ? { resourceVersion } : {}) },
    status: { addresses: status?.addresses ?? [] },
  }
}

/** C-13: no timestamps, the server fills them in. */
function decided(csr: CertificateSigningRequest, { outcome, reasons }: Verdict): CertificateSigningRequest {
  const condition = {
    type: outcome === 'Approve' ? 'Approved' : 'Denied',
    status: 'True',
    ...(reasons[0] ? { reason: reasons[0].code, message: reasons[0].message } : {}),
  } as const
  return { ...csr, status: { ...csr.status, conditions: [...(csr.status?.conditions ?? []), condition] } }
}
