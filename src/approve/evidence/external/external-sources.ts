/** The sources that the controller's own file defines, by the names that policies call them. */
import type { Clock } from '../../../ports.ts'
import type { ApprovalPolicy } from '../../policy.ts'
import type { EvidenceProvider } from '../provider.ts'
import { ExternalEvidence } from './external-evidence.ts'
import type { EvidenceSource } from './source.ts'

export interface ExternalSources {
  /** Those that the policy names; one that is not defined is a source that cannot be asked. */
  of(policy: ApprovalPolicy | undefined): readonly EvidenceProvider[]
  /** Asks those that the policy names about the node, where no answer counts any more; requesters take turns. Never rejects. */
  refresh(policy: ApprovalPolicy | undefined, nodeName: string, requester: string): Promise<void>
  /** Nothing is asked any more. */
  stop(): void
}

export function externalSources(sources: readonly EvidenceSource[], clock: Clock): ExternalSources {
  const known = new Map(sources.map(source => [source.name, new ExternalEvidence(source, clock)]))
  const named = (policy: ApprovalPolicy | undefined) => policy?.evidenceFrom ?? []
  return {
    of: policy => named(policy).map(name => known.get(name) ?? undefinedSource(name)),
    async refresh(policy, nodeName, requester) {
      await Promise.all(named(policy).map(name => known.get(name)?.refresh(nodeName, requester)))
    },
    stop() {
      for (const source of known.values()) source.stop()
    },
  }
}

function undefinedSource(name: string): EvidenceProvider {
  return {
    name: `evidence source ${name}`,
    level: 'Inventory',
    evidence: () => ({ error: "is not defined in this controller's --evidence-config" }),
    holders: () => [],
  }
}
