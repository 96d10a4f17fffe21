/** From a request to its verdict: gathers what is known, has it judged, asks outside for what is missing. */
import type { CertificateSigningRequest } from '../kube/types.ts'
import type { AuditedDecision } from '../survey/audit/audit-entry.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { askingFor, reviewAccess } from './access-review.ts'
import type { ApprovalOptions } from './approval-options.ts'
import { readAttestation } from './attestation.ts'
import type { ClusterFacts } from './cluster-facts.ts'
import { decisionRecord } from './decision-record.ts'
import type { Facts } from './facts.ts'
import { judge, wantsAccessReview, wantsAttestation, wantsEvidence } from './judge.ts'
import type { PolicySource } from './policy-source.ts'
import { Questions } from './questions.ts'
import { type RequestReading, readRequest } from './read-request.ts'
import type { RequestHistoryIndex } from './request-history.ts'
import type { RequestMemory } from './request-memory.ts'
import { requestedSans } from './requested-sans.ts'
import { kindOf } from './rules/our-signer.ts'
import { ShadowComparison } from './shadow-comparison.ts'
import { subjectNode } from './subject-node.ts'
import type { Verdict } from './verdict.ts'

export interface Judged {
  verdict: Verdict
  facts: Facts
  /** For the decision log; undefined where none is kept. */
  record: AuditedDecision | undefined
}

export interface Judging {
  /** As of now. */
  factsOf(csr: CertificateSigningRequest): Facts
  /**
   * Has the request judged, whose addresses then count as taken. Undefined where sources outside the cluster have to be
   * asked first: then it comes again.
   */
  verdictOf(csr: CertificateSigningRequest, signal: AbortSignal): Promise<Judged | undefined>
  /** The request is gone. */
  forget(name: string): void
  /** Resolves when nothing is asked any more. */
  stop(): Promise<void>
}

/** By what a request is judged, and what is learned by it. */
export interface JudgedBy {
  policies: PolicySource
  cluster: ClusterFacts
  history: RequestHistoryIndex
  memory: RequestMemory
  /** An answer came from outside the cluster: the request is to be looked at again. */
  answered(name: string): void
}

export function startJudging(options: ApprovalOptions, by: JudgedBy): Judging {
  const { client, clock, askAccess = askingFor(client) } = options
  const { policies, cluster, history, memory } = by
  const questions = new Questions()
  const shadows = new ShadowComparison(
    policies,
    { evidence: cluster.evidence, ask: cluster.askSources },
    comparison => options.onShadow?.(comparison),
  )

  function factsOf(csr: CertificateSigningRequest, reading = readRequest(csr)): Facts {
    const nodeName = subjectOf(reading)
    const now = clock.now()
    return {
      ...cluster.facts(),
      csr,
      reading,
      now,
      node: nodeName === undefined ? undefined : cluster.node(nodeName),
      history: history.of(csr, now),
      policy: policies.inForce()?.policy,
      policyUnusable: policies.unusable(),
      signedElsewhere: options.signsFor ? !options.signsFor(csr.spec.signerName) : undefined,
    }
  }

  async function verdictOf(csr: CertificateSigningRequest, signal: AbortSignal): Promise<Judged | undefined> {
    const { name } = csr.metadata
    const reading = readRequest(csr)
    const nodeName = subjectOf(reading)
    // Before the Node is looked at: a change while this is judged must bring the request back.
    if (nodeName !== undefined && kindOf(csr) === 'serving') memory.follow(name, nodeName)
    let facts = factsOf(csr, reading)
    let verdict = judge(facts)
    // Facts as of now: the policy may have changed while the answer was awaited.
    const judgeAgain = (learned: Partial<Facts>) => {
      facts = { ...factsOf(csr, reading), ...learned }
      verdict = judge(facts)
    }
    const answered = questions.takeAnswer(name)
    if (nodeName !== undefined && !answered && wantsEvidence(verdict, facts)) {
      const ask = () => cluster.askSources(facts.policy, nodeName, csr.spec.username ?? '')
      questions.ask(name, ask, by.answered)
      return undefined
    }
    if (nodeName !== undefined && wantsAttestation(verdict))
      judgeAgain({ attestation: await readAttestation(options, csr, nodeName, signal) })
    if (nodeName !== undefined && wantsAccessReview(verdict))
      judgeAgain({ access: await reviewAccess(askAccess, csr, nodeName, signal) })
    shadows.compare(facts, verdict)
    for (const other of verdict.outcome === 'Wait' ? (verdict.nodes ?? []) : []) memory.follow(name, other)
    // Before its own addresses count as held by it.
    const record = options.record && decisionRecord(facts, verdict, policies.inForce())
    hold(csr, reading, verdict)
    return { verdict, facts, record }
  }

  /** In the same turn as the judgement: the next one must see that the addresses are taken. */
  function hold(csr: CertificateSigningRequest, reading: RequestReading, { outcome }: Verdict): void {
    const { request } = reading
    const nodeName = subjectOf(reading)
    // Its deletion was told already, and nobody would tell it again to give the addresses free.
    const isGone = options.cached(csr.metadata.name)?.metadata.uid !== csr.metadata.uid
    if (outcome !== 'Approve' || !request || nodeName === undefined || isGone)
      cluster.certified.release(uidOf(csr))
    else
      cluster.certified.reserve(
        uidOf(csr),
        nodeName,
        requestedSans(request).map(({ canonical }) => canonical),
        sha256Hex(request.spki),
      )
  }

  return {
    factsOf: csr => factsOf(csr),
    verdictOf,
    forget: name => void questions.takeAnswer(name),
    async stop() {
      await Promise.all([shadows.stop(), questions.stop()])
    },
  }
}

/** By what a request is told from another of the same name. */
export const uidOf = ({ metadata }: CertificateSigningRequest) => metadata.uid ?? metadata.name

const subjectOf = ({ request }: RequestReading) => request && subjectNode(request)
