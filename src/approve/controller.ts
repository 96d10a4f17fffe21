/** Gathers facts about each undecided request, has it judged, and writes the verdict to /approval. */
import { isStatus } from '../kube/client.ts'
import { isApproved } from '../kube/csr-conditions.ts'
import type { ChangeType } from '../kube/object-cache.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../kube/types.ts'
import { retryDelay, startWorkQueue } from '../kube/work-queue.ts'
import type { Leaf } from '../sign/leaf.ts'
import type { AuditedDecision } from '../survey/audit/audit-entry.ts'
import type { Certificate } from '../x509/certificate.ts'
import { announce, announceForeign } from './announcing.ts'
import type { ApprovalOptions } from './approval-options.ts'
import { useToken } from './attestation.ts'
import { followCluster } from './cluster-facts.ts'
import { decided } from './decided.ts'
import { EarlyRequests, judgedByAll } from './early-requests.ts'
import { freshFor } from './evidence/external/external-evidence.ts'
import { followAccess } from './follow-access.ts'
import { holding } from './held-condition.ts'
import { startJudging, uidOf } from './judging.ts'
import { startKnownMachines } from './known-machines.ts'
import { boundsLifetime, longestLifetime } from './longest-lifetime.ts'
import { readRequest } from './read-request.ts'
import { RequestHistoryIndex } from './request-history.ts'
import { RequestMemory } from './request-memory.ts'
import { requesterOf } from './requester.ts'
import { kindOf } from './rules/our-signer.ts'
import { isUndecided } from './rules/undecided.ts'
import { subjectNode } from './subject-node.ts'
import type { Verdict } from './verdict.ts'

export interface ApprovalController {
  /**
   * To be called for every change of a CertificateSigningRequest, after the cache has it. `leaf`: its certificate, where
   * somebody read it already.
   */
  csrChanged(
    type: ChangeType,
    csr: CertificateSigningRequest,
    previous?: CertificateSigningRequest,
    leaf?: Certificate,
  ): void
  /** To be called with every certificate before it is handed out. */
  certificateIssued(leaf: Leaf): void
  /**
   * Seconds that the policy lets the certificate live, as of now; undefined: as long as the signer gives. Rejects while
   * that is not known.
   */
  longestLifetime(csr: CertificateSigningRequest): Promise<number | undefined>
  /** Whether all Nodes were seen. */
  nodesSynced(): boolean
  stop(): Promise<void>
}

/** C-2. */
const defaultWorkers = 5
/** Of writing one verdict, when others write at the same time. */
const mostConflicts = 5

export function startApprovalController(options: ApprovalOptions): ApprovalController {
  const { client, clock, log, cached, workers = defaultWorkers } = options
  const memory = new RequestMemory()
  const history = new RequestHistoryIndex()
  const queue = startWorkQueue({ name: 'approval', workers, clock, log, process: work, rank })
  /** Requests wait in here until what they are judged by is known. */
  const early = new EarlyRequests(name => {
    const csr = cached(name)
    return csr !== undefined && judgedByAll(csr, policyNow())
  })
  /** With another policy they may be judged otherwise. */
  const leftPending = new Set<string>()
  const enqueue = (name: string) => {
    if (!early.holds(name)) queue.add(name)
  }
  const again = (names: Iterable<string>) => {
    for (const name of names) enqueue(name)
  }
  /** Because something changed that they are judged by. */
  const paced = (names: Iterable<string>) => {
    for (const name of names) {
      const wait = early.holds(name) ? 0 : memory.pace(name, clock.monotonic())
      if (wait === 0) enqueue(name)
      else queue.addAfter(name, wait)
    }
  }
  const policies = options.followPolicies(() => {
    cluster.policiesChanged()
    machines.inventoryChanged()
    again(leftPending)
  })
  const policyNow = () => policies.inForce()?.policy
  const cluster = followCluster(
    options,
    policies,
    nodeName => paced(memory.followers(nodeName)),
    () => {
      again(memory.following())
      machines.inventoryChanged()
    },
  )
  const judging = startJudging(options, { policies, cluster, history, memory, answered: enqueue })
  const machines = startKnownMachines({
    ...options,
    evidence: () => cluster.evidence(policyNow()) ?? [],
  })
  const access = followAccess(options, () => paced(memory.refused()))

  void Promise.allSettled([policies.settled, cluster.ledgerTried]).then(() => again(early.learn('ledger')))
  // In which order they are judged is known when all certificates are.
  void Promise.allSettled([policies.settled, cluster.ledgerTried, options.csrsSynced]).then(() =>
    again(early.learn('requests')),
  )

  /** Least remaining life first: a node whose certificate lapsed, or that never had one, is out of service. */
  function rank(name: string): number {
    const csr = cached(name)
    const requester = csr && requesterOf(csr, policyNow())
    if (requester?.kind !== 'node') return 0
    return cluster.certified.expiryOf(csr?.spec.signerName ?? '', requester.nodeName) ?? 0
  }

  /** Milliseconds until the request is to be looked at again, or undefined. */
  async function work(name: string, signal: AbortSignal): Promise<number | undefined> {
    const later = await approve(name, signal)
    // Deleted while it was judged: nobody else would forget it.
    if (!cached(name)) {
      memory.forget(name)
      judging.forget(name)
      leftPending.delete(name)
    }
    return later
  }

  async function approve(name: string, signal: AbortSignal): Promise<number | undefined> {
    let csr = cached(name)
    if (!csr || memory.isWritten(csr)) return undefined
    // An address is free only when every Node was seen.
    await policies.settled
    if (judgedByAll(csr, policyNow())) await cluster.settled()
    for (let conflicts = 0; !signal.aborted; conflicts++) {
      const judged = await judging.verdictOf(csr, signal)
      if (!judged) {
        // With another policy it may need no answer.
        leftPending.add(name)
        return undefined
      }
      const { verdict, facts, record } = judged
      if (verdict.outcome !== 'Approve' && verdict.outcome !== 'Deny') {
        await sayHeld(csr, verdict, record, signal)
        return leavePending(csr, verdict, facts.node)
      }
      if (verdict.outcome === 'Approve' && facts.attestation) {
        // Before it is approved: a token is good for one certificate, also across a crash here.
        if (!(await useToken(client, facts.attestation, csr, signal))) {
          if (conflicts >= mostConflicts) throw new Error(`the identity for ${name} changes all the time`)
          continue
        }
      }
      if (record) await options.record?.(record)
      memory.markDeciding(csr, verdict.outcome)
      try {
        await client.update(resources.certificateSigningRequests, decided(csr, verdict), {
          subresource: 'approval',
          signal,
        })
        memory.markWritten(csr)
        announce(options, csr, verdict, facts.node)
        return undefined
      } catch (error) {
        if (isStatus(error, 'NotFound')) {
          cluster.certified.release(uidOf(csr))
          return undefined
        }
        if (!isStatus(error, 'Conflict') || conflicts >= mostConflicts) throw error
        // Somebody else wrote first: judge what is there now. Decided by another is as good as done.
        const { uid } = csr.metadata
        csr = await client.get<CertificateSigningRequest>(
          resources.certificateSigningRequests,
          { name },
          signal,
        )
        // Another one of that name comes by itself.
        if (!isUndecided(csr) || csr.metadata.uid !== uid) return undefined
      }
    }
    return undefined
  }

  /** Writes the conditions of a request that a person has to decide, once. */
  async function sayHeld(
    csr: CertificateSigningRequest,
    verdict: Verdict,
    record: AuditedDecision | undefined,
    signal: AbortSignal,
  ): Promise<void> {
    const conditions = holding(csr, verdict, policyNow())
    if (!conditions) return
    if (record) await options.record?.(record)
    const held = { ...csr, status: { ...csr.status, conditions } }
    // Changed or gone meanwhile: the change brings it back.
    await client
      .update(resources.certificateSigningRequests, held, { subresource: 'approval', signal })
      .catch(error => {
        if (!isStatus(error, 'Conflict') && !isStatus(error, 'NotFound')) throw error
      })
  }

  function leavePending(
    csr: CertificateSigningRequest,
    verdict: Verdict,
    node?: KubeNode,
  ): number | undefined {
    leftPending.add(csr.metadata.name)
    if (memory.isNews(csr, verdict)) announce(options, csr, verdict, node)
    if (verdict.until !== undefined) {
      const left = verdict.until - clock.now()
      // Sources outside the cluster do not tell when they have something new to say.
      return verdict.outcome === 'Wait' && policyNow()?.evidenceFrom ? Math.min(left, freshFor) : left
    }
    // C-14: with backoff, so that access granted later is seen without a new request.
    return verdict.outcome === 'Retry' ? retryDelay(memory.countRetry(csr.metadata.name)) : undefined
  }

  return {
    csrChanged(type, seen, previous, leaf) {
      const { name } = seen.metadata
      const csr = cached(name)
      const judgeable = csr !== undefined && kindOf(csr) !== undefined && isUndecided(csr)
      if (kindOf(seen)) {
        const now = clock.now()
        if (type === 'DELETED') {
          history.forget(seen)
          cluster.certified.release(uidOf(seen))
        } else {
          history.see(seen, previous, now)
          if (!isUndecided(seen)) cluster.certified.see(seen, now, leaf)
          if (type === 'ADDED') again(history.older(seen, now))
          const wasDecided = previous && isUndecided(previous) && !isUndecided(seen)
          if (wasDecided && !memory.isOurs(seen, isApproved(seen) ? 'Approve' : 'Deny'))
            announceForeign(options, seen, judging.factsOf(previous), policies.inForce())
        }
      }
      // A deletion may be followed at once by a new request of the same name, which owes the old one nothing.
      if (!judgeable) leftPending.delete(name)
      if (type === 'DELETED' || !judgeable) memory.forget(name)
      if (judgeable) enqueue(name)
    },
    async longestLifetime(csr) {
      if (!kindOf(csr)) return undefined
      await policies.settled
      const policy = policyNow()
      if (policy && !boundsLifetime(policy)) return undefined
      // The pools that a node is in are known when all Nodes and inventories are.
      if (policy?.pools) await cluster.settled()
      const nodeName = subjectOf(csr)
      if (policy?.pools && nodeName !== undefined)
        await cluster.askSources(policy, nodeName, csr.spec.username ?? '')
      return longestLifetime(judging.factsOf(csr))
    },
    nodesSynced: cluster.nodesSynced,
    certificateIssued: leaf => cluster.certified.addLeaf(leaf, clock.now()),
    async stop() {
      await Promise.all([queue.stop(), machines.stop(), cluster.stop(), policies.stop(), access.stop()])
      await judging.stop()
    },
  }
}

function subjectOf(csr: CertificateSigningRequest): string | undefined {
  const { request } = readRequest(csr)
  return request && subjectNode(request)
}
