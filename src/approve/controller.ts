/** Gathers facts about each undecided request, has it judged, and writes the verdict to /approval. */
import { isStatus } from '../kube/client.ts'
import { isApproved } from '../kube/csr-conditions.ts'
import type { ChangeType } from '../kube/object-cache.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../kube/types.ts'
import { retryDelay, startWorkQueue } from '../kube/work-queue.ts'
import type { Leaf } from '../sign/leaf.ts'
import type { AuditedDecision } from '../survey/audit/audit-entry.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { askingFor, reviewAccess } from './access-review.ts'
import type { ApprovalOptions } from './approval-options.ts'
import { readAttestation, useToken } from './attestation.ts'
import { followCluster } from './cluster-facts.ts'
import { decided } from './decided.ts'
import { decisionRecord, foreignRecord } from './decision-record.ts'
import { EarlyRequests, judgedByAll } from './early-requests.ts'
import { freshFor } from './evidence/external/external-evidence.ts'
import type { Facts } from './facts.ts'
import { followAccess } from './follow-access.ts'
import { foreignDecision } from './foreign-decision.ts'
import { holding } from './held-condition.ts'
import { judge, wantsAccessReview, wantsAttestation, wantsEvidence } from './judge.ts'
import { startKnownMachines } from './known-machines.ts'
import { boundsLifetime, longestLifetime } from './longest-lifetime.ts'
import { Questions } from './questions.ts'
import { readRequest } from './read-request.ts'
import { RequestHistoryIndex } from './request-history.ts'
import { RequestMemory } from './request-memory.ts'
import { requestedSans } from './requested-sans.ts'
import { requesterOf } from './requester.ts'
import { kindOf } from './rules/our-signer.ts'
import { isUndecided } from './rules/undecided.ts'
import { ShadowComparison } from './shadow-comparison.ts'
import { subjectNode } from './subject-node.ts'
import type { Verdict } from './verdict.ts'

export interface ApprovalController {
  /** To be called for every change of a CertificateSigningRequest, after the cache has it. */
  csrChanged(type: ChangeType, csr: CertificateSigningRequest, previous?: CertificateSigningRequest): void
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
  const { client, clock, log, cached, workers = defaultWorkers, askAccess = askingFor(client) } = options
  const memory = new RequestMemory()
  const history = new RequestHistoryIndex()
  const questions = new Questions()
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
  const shadows = new ShadowComparison(
    policies,
    { evidence: cluster.evidence, ask: cluster.askSources },
    comparison => options.onShadow?.(comparison),
  )
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
      questions.takeAnswer(name)
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
      const judged = await verdictOf(csr, signal)
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
        announce(csr, verdict, facts.node)
        return undefined
      } catch (error) {
        if (isStatus(error, 'NotFound')) {
          cluster.certified.release(uidOf(csr))
          return undefined
        }
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

  /** Undefined where sources outside the cluster have to be asked first: then it comes again. */
  async function verdictOf(
    csr: CertificateSigningRequest,
    signal: AbortSignal,
  ): Promise<{ verdict: Verdict; facts: Facts; record: AuditedDecision | undefined } | undefined> {
    const nodeName = subjectOf(csr)
    // Before the Node is looked at: a change while this is judged must bring the request back.
    if (nodeName !== undefined && kindOf(csr) === 'serving') memory.follow(csr.metadata.name, nodeName)
    let facts = factsOf(csr)
    let verdict = judge(facts)
    // Facts as of now: the policy may have changed while the answer was awaited.
    const judgeAgain = (learned: Partial<Facts>) => {
      facts = { ...factsOf(csr), ...learned }
      verdict = judge(facts)
    }
    const answered = questions.takeAnswer(csr.metadata.name)
    if (nodeName !== undefined && !answered && wantsEvidence(verdict, facts)) {
      const ask = () => cluster.askSources(facts.policy, nodeName, csr.spec.username ?? '')
      questions.ask(csr.metadata.name, ask, enqueue)
      return undefined
    }
    if (nodeName !== undefined && wantsAttestation(verdict))
      judgeAgain({ attestation: await readAttestation(options, csr, nodeName, signal) })
    if (nodeName !== undefined && wantsAccessReview(verdict))
      judgeAgain({ access: await reviewAccess(askAccess, csr, nodeName, signal) })
    shadows.compare(facts, verdict)
    for (const other of verdict.outcome === 'Wait' ? (verdict.nodes ?? []) : [])
      memory.follow(csr.metadata.name, other)
    // Before its own addresses count as held by it.
    const record = options.record && decisionRecord(facts, verdict, policies.inForce())
    hold(csr, verdict)
    return { verdict, facts, record }
  }

  /** As of now. */
  function factsOf(csr: CertificateSigningRequest): Facts {
    const reading = readRequest(csr)
    const nodeName = reading.request && subjectNode(reading.request)
    const now = clock.now()
    return {
      ...cluster.facts(),
      csr,
      reading,
      now,
      node: nodeName === undefined ? undefined : cluster.node(nodeName),
      history: history.of(csr, now),
      policy: policyNow(),
      policyUnusable: policies.unusable(),
      signedElsewhere: options.signsFor ? !options.signsFor(csr.spec.signerName) : undefined,
    }
  }

  /** In the same turn as the judgement: the next one must see that the addresses are taken. */
  function hold(csr: CertificateSigningRequest, { outcome }: Verdict): void {
    const { request } = readRequest(csr)
    const nodeName = request && subjectNode(request)
    if (outcome !== 'Approve' || !nodeName) cluster.certified.release(uidOf(csr))
    else
      cluster.certified.reserve(
        uidOf(csr),
        nodeName,
        requestedSans(request).map(({ canonical }) => canonical),
        sha256Hex(request.spki),
      )
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
    if (memory.isNews(csr, verdict)) announce(csr, verdict, node)
    if (verdict.until !== undefined) {
      const left = verdict.until - clock.now()
      // Sources outside the cluster do not tell when they have something new to say.
      return verdict.outcome === 'Wait' && policyNow()?.evidenceFrom ? Math.min(left, freshFor) : left
    }
    // C-14: with backoff, so that access granted later is seen without a new request.
    return verdict.outcome === 'Retry' ? retryDelay(memory.countRetry(csr.metadata.name)) : undefined
  }

  function announce(csr: CertificateSigningRequest, verdict: Verdict, node?: KubeNode): void {
    const [first, ...warnings] = verdict.reasons
    const { outcome } = verdict
    if (first) options.report(csr, outcome === 'Approve' || outcome === 'Wait' ? 'Normal' : 'Warning', first)
    for (const warning of warnings) options.report(csr, 'Warning', warning)
    // Its name would make each of a node's requests an Event of its own; so the same reason counts one Event up.
    if (node && first && (outcome === 'Deny' || outcome === 'Hold') && first.code !== 'Superseded')
      options.reportNode?.(node, first)
    const { signerName, username: requester } = csr.spec
    const fields = { csr: csr.metadata.name, signerName, requester, outcome, ...first }
    log.info('judged a certificate signing request', fields)
    options.onVerdict?.(csr, verdict)
  }

  /** A13: what somebody else decided stands; whether it is what would have been decided here is worth knowing. */
  function noticeForeign(
    csr: CertificateSigningRequest,
    previous: CertificateSigningRequest | undefined,
  ): void {
    if (!previous || !isUndecided(previous) || memory.isOurs(csr, isApproved(csr) ? 'Approve' : 'Deny'))
      return
    const facts = factsOf(previous)
    const judged = kindOf(csr) === 'serving' ? judge(facts) : undefined
    const found = foreignDecision(csr, judged)
    if (!found) return
    const { type, reason } = found
    options.report(csr, type, reason)
    log.info('another approver decided', { csr: csr.metadata.name, message: reason.message })
    const outcome = isApproved(csr) ? 'Approve' : 'Deny'
    const record = decisionRecord(facts, { outcome, reasons: [reason] }, policies.inForce())
    // It stands, whether it can be kept or not.
    options
      .record?.(foreignRecord(csr, record))
      .catch(error => log.error('a decision of another approver could not be kept', { error: String(error) }))
    options.onVerdict?.(csr, { outcome: 'Ignore', reasons: [reason], rules: [] })
  }

  return {
    csrChanged(type, seen, previous) {
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
          if (!isUndecided(seen)) cluster.certified.see(seen, now)
          if (type === 'ADDED') again(history.older(seen, now))
          noticeForeign(seen, previous)
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
      return longestLifetime(factsOf(csr))
    },
    nodesSynced: cluster.nodesSynced,
    certificateIssued: leaf => cluster.certified.addLeaf(leaf, clock.now()),
    async stop() {
      await Promise.all([queue.stop(), machines.stop(), cluster.stop(), policies.stop(), access.stop()])
      await Promise.all([shadows.stop(), questions.stop()])
    },
  }
}

const uidOf = ({ metadata }: CertificateSigningRequest) => metadata.uid ?? metadata.name

function subjectOf(csr: CertificateSigningRequest): string | undefined {
  const { request } = readRequest(csr)
  return request && subjectNode(request)
}
