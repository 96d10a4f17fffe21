/** Who verifies certificates of a role on a cluster that is not ours, and what each has proven. */
import { type KubeNode, type Lease, resources } from '../../kube/types.ts'
import type { ConsumerFacts, ServerFacts } from '../../rollover/observations.ts'
import type { Plan } from '../../rollover/plan.ts'
import { nodeConsumers } from '../../trust/node-consumers.ts'
import { type ConsumingPod, podConsumers } from '../../trust/pod-consumers.ts'
import { decodeTrustReport, type ReportedTrust, trustReportAnnotation } from '../../trust/trust-report.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import type { KnownBundle } from '../rollover/signed-bundles.ts'
import { type FactParts, tokenSecretsIn } from './generic-facts.ts'
import { controllerId } from './own-way-in.ts'

type Bundles = ReadonlyMap<number, KnownBundle>

export async function consumersOf(
  plan: Plan,
  bundles: Bundles,
  servers: readonly ServerFacts[],
  parts: FactParts,
): Promise<ConsumerFacts[]> {
  if (parts.role === 'client') return [...judges(servers, parts), ...(await nodesOf(plan, bundles, parts))]
  const pods = podConsumers(parts.snapshot.list<ConsumingPod>(resources.pods), {
    generation: parts.state.bundle,
    ...(parts.state.publishedAt !== undefined && { at: parts.state.publishedAt }),
    tokenSecrets: tokenSecretsIn(parts.snapshot),
    now: parts.control.clock.now(),
  })
  return [await itself(plan, bundles, parts), ...(await nodesOf(plan, bundles, parts)), ...pods]
}

/** API servers verify clients; what each lets in, it was tried with. */
function judges(servers: readonly ServerFacts[], { role, control }: FactParts): ConsumerFacts[] {
  const at = control.clock.now()
  return servers.map(({ id, instance, healthy, accepts = [], judgesBy: generation = 0 }) => ({
    id: `apiserver/${id}`,
    kind: 'APIServer',
    roles: [role],
    instance,
    lastSeen: healthy ? at : 0,
    orderable: false,
    reloads: true,
    proof: { level: 3, generation, instance, at, authorities: accepts },
  }))
}

/** What this process trusts, exercised over TLS in the process itself. */
async function itself(
  { from, to }: Plan,
  bundles: Bundles,
  { role, control, cas, servers }: FactParts,
): Promise<ConsumerFacts> {
  const at = control.clock.now()
  const trusted = control.connection.trusts()
  const generation = generationOf(trusted, bundles)
  const [trials] = servers.values()
  const there = [from, to].filter(one => cas.authority(role, one))
  const verified = await Promise.all(
    there.map(async one => ((await trials?.trustedBy(trusted, one)) ? [one] : [])),
  )
  const instance = control.identity
  return {
    id: controllerId,
    kind: 'Orchestrator',
    roles: [role],
    instance,
    lastSeen: at,
    orderable: false,
    reloads: true,
    proof: { level: 3, generation, instance, at, authorities: verified.flat() },
  }
}

/** The newest bundle whose CAs are all there, and no other CA of ours. */
function generationOf(pem: string, bundles: Bundles): number {
  const held = new Set(parseCertificatesPem(pem).map(({ raw }) => Buffer.from(raw).toString('base64')))
  const inBundle = (text: string) =>
    parseCertificatesPem(text).map(({ raw }) => Buffer.from(raw).toString('base64'))
  const ours = new Set([...bundles.values()].flatMap(bundle => inBundle(bundle.pem)))
  const heldOfOurs = [...held].filter(one => ours.has(one))
  const same = [...bundles.values()].filter(bundle => {
    const anchors = inBundle(bundle.pem)
    return anchors.length === heldOfOurs.length && anchors.every(one => held.has(one))
  })
  return Math.max(0, ...same.map(({ generation }) => generation))
}

async function nodesOf(plan: Plan, bundles: Bundles, parts: FactParts): Promise<ConsumerFacts[]> {
  const { role, snapshot } = parts
  const digests = new Map([...bundles].map(([generation, { digest }]) => [generation, digest]))
  const found = await Promise.all(
    snapshot.list<KubeNode>(resources.nodes).map(async node => {
      const { name } = node.metadata
      const lease = snapshot.get<Lease>(resources.leases, name, 'kube-node-lease')
      const report = decodeTrustReport(lease?.metadata.annotations?.[trustReportAnnotation])
      const bootID = node.status?.nodeInfo?.bootID
      const facts = {
        name,
        renewed: Date.parse(lease?.spec?.renewTime ?? '') || 0,
        unavailable: node.status?.conditions?.find(({ type }) => type === 'Ready')?.status !== 'True',
        // The agent's own word, as its report is: API servers of others tell nobody who came to them.
        handshakes: report?.find(isOfAgent(role))?.verified ?? [],
        ...(bootID !== undefined && { bootID }),
        ...(report && { report }),
      }
      const consumers = nodeConsumers(facts, role, digests)
      return Promise.all(consumers.map(consumer => asTried(consumer, node, plan, parts)))
    }),
  )
  return found.flat()
}

/** The report of a node's agent for a role. */
export function isOfAgent(role: string): (report: ReportedTrust) => boolean {
  return report => report.role === role && report.subject === 'agent'
}

/**
 * A kubelet judges clients: it was shown a certificate of each CA. Who verifies API servers is tried where those show the
 * chain of one CA to who asks for it by name, and only an agent asks: for others there is a named human's word.
 */
async function asTried(
  consumer: ConsumerFacts,
  node: KubeNode,
  plan: Plan,
  { role, nodes, state, control }: FactParts,
): Promise<ConsumerFacts> {
  if (role !== 'client') {
    const asked = consumer.kind === 'Agent' && control.file.hooks.probe !== undefined
    const untried = consumer.kind === 'Agent' ? !asked : consumer.proof === undefined
    return untried ? { ...consumer, unprobeable: true } : consumer
  }
  if (plan.bundle === undefined) return consumer
  const { instance, proof: report } = consumer
  const since = report?.generation ?? state.bundle
  const { accepts, refuses } = await nodes.tried(node, [plan.from, plan.to], since)
  if (accepts.length === 0) return consumer
  const handshakes = { level: 3, instance, at: nodes.now(), authorities: accepts, refuses } as const
  // Without a report nobody can see which bundle it has: it proves the CAs that it let in, and no other.
  const proof = report
    ? { ...handshakes, generation: report.generation }
    : { ...handshakes, generation: state.bundle, unproven: 0 as const }
  return { ...consumer, proof }
}
