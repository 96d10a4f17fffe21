/** Judges requests outside the controller: by what a cluster shows, or by files alone. */
import { AddressIndex } from '../../approve/address-index.ts'
import type { EvidenceProvider } from '../../approve/evidence/provider.ts'
import type { Protection, ReservedAddresses } from '../../approve/facts.ts'
import { Inventory } from '../../approve/inventory/inventory.ts'
import { judge } from '../../approve/judge.ts'
import type { ApprovalPolicy } from '../../approve/policy.ts'
import { readRequest } from '../../approve/read-request.ts'
import { kindOf } from '../../approve/rules/our-signer.ts'
import { subjectNode } from '../../approve/subject-node.ts'
import type { Verdict } from '../../approve/verdict.ts'
import { isApproved } from '../../kube/csr-conditions.ts'
import type { CertificateSigningRequest, KubeNode } from '../../kube/types.ts'

/** What requests are judged by, besides the policy. */
export interface Surroundings {
  nodes: readonly KubeNode[]
  reserved?: ReservedAddresses | undefined
  protection?: Protection | undefined
  /** The sources that a policy names; one that cannot be read says so. */
  evidence(policy: ApprovalPolicy | undefined): readonly EvidenceProvider[] | undefined
  /** What could not be looked at. */
  unchecked: readonly string[]
}

/** Sources that only the controller can ask: its webhooks and programs. They say that they were not asked. */
export function sourcesElsewhere(policy: ApprovalPolicy | undefined): EvidenceProvider[] {
  return (policy?.evidenceFrom ?? []).map(name => {
    const source = new Inventory(`evidence source ${name}`)
    source.lose('is asked by the controller only')
    return source
  })
}

export type JudgeAgain = (csr: CertificateSigningRequest, policy: ApprovalPolicy | undefined) => Verdict

/**
 * Judges a request as if it had just come: without its answer, without a budget spent, and as of its creation. Whether a
 * client request may be approved is taken from how it was answered; `access`: it may.
 */
export function judgeAgain(surroundings: Surroundings, now: number, access: boolean): JudgeAgain {
  const { nodes, reserved, protection, evidence } = surroundings
  const claims = new AddressIndex()
  for (const node of nodes) claims.set(node)
  const byName = new Map(nodes.map(node => [node.metadata.name, node]))
  return (csr, policy) => {
    const { status: _status, ...asked } = csr
    const { deletionTimestamp: _deletion, ...metadata } = csr.metadata
    const created = Date.parse(metadata.creationTimestamp ?? '')
    const reading = readRequest(csr)
    const nodeName = reading.request && subjectNode(reading.request)
    const mayClient = kindOf(csr) === 'client' && (access || isApproved(csr))
    return judge({
      csr: { ...asked, metadata },
      reading,
      now: Number.isNaN(created) ? now : created,
      claims,
      node: nodeName === undefined ? undefined : byName.get(nodeName),
      evidence: evidence(policy),
      reserved,
      protection,
      policy,
      ...(mayClient && { access: { tried: ['nodeclient'], allowed: 'nodeclient' } }),
    })
  }
}
