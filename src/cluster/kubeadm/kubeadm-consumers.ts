/** Who verifies certificates of a role on a cluster of kubeadm, and what each has proven. */
import { type KubeNode, type Lease, resources, type Secret } from '../../kube/types.ts'
import type { ConsumerFacts, ServerFacts } from '../../rollover/observations.ts'
import type { Plan } from '../../rollover/plan.ts'
import { nodeConsumers } from '../../trust/node-consumers.ts'
import { type ConsumingPod, podConsumers } from '../../trust/pod-consumers.ts'
import { serviceAccountTokenType } from '../../trust/token-secrets.ts'
import { decodeTrustReport, type ReportedTrust, trustReportAnnotation } from '../../trust/trust-report.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { type Bundles, type FactParts, reportOf, serverOf } from './kubeadm-facts.ts'

/** Id of this controller, as a consumer and as who holds a certificate. */
export const controllerId = 'controller'

export async function consumersOf(
  plan: Plan,
  bundles: Bundles,
  servers: readonly ServerFacts[],
  parts: FactParts,
): Promise<ConsumerFacts[]> {
  const nodes = await nodesOf(plan, bundles, parts)
  if (parts.role === 'client') return [...judges(servers, parts), ...nodes]
  return [await itself(plan, bundles, parts), ...managers(parts), ...nodes, ...pods(parts)]
}

/** API servers verify clients; what each lets in, it was tried with. */
function judges(servers: readonly ServerFacts[], parts: FactParts): ConsumerFacts[] {
  const { role, control } = parts
  const at = control.clock.now()
  return servers.map(({ id, instance, healthy, accepts = [], judgesBy: generation = 0 }) => ({
    id: `apiserver/${id}`,
    kind: 'APIServer',
    roles: [role],
    instance,
    lastSeen: healthy ? at : 0,
    orderable: true,
    // It reads its CAs again, once its flags name files of their own.
    reloads: reportOf(id, parts)?.roles.client !== undefined,
    proof: { level: 3, generation, instance, at, authorities: accepts },
  }))
}

/** P8: who changes the CA is the first that has to pass. Its kubeconfig is one of kubeadm's, or the operator's to write anew. */
async function itself(
  { from, to }: Plan,
  bundles: Bundles,
  { control, role, trials, ...parts }: FactParts,
): Promise<ConsumerFacts> {
  const { connection, clock, cas, nodes } = control
  const trusted = connection.trusts()
  const servers = nodes.flatMap(name => serverOf(name, { ...parts, control }) ?? [])
  const verified: number[] = []
  for (const authority of [from, to]) {
    if (!cas.authority(role, authority)) continue
    // The one that is up with both chains will do: it is this process that is tried.
    for (const server of servers)
      if (!verified.includes(authority) && (await trials.trusts(server, trusted, authority)))
        verified.push(authority)
  }
  const held = anchorsIn(trusted)
  const same = [...bundles.values()].filter(({ pem }) => isSameSet(anchorsIn(pem), held))
  const generation = Math.max(0, ...same.map(one => one.generation))
  const at = clock.now()
  const instance = 'controller'
  return {
    id: controllerId,
    kind: 'Orchestrator',
    roles: [role],
    instance,
    lastSeen: at,
    orderable: true,
    reloads: true,
    proof: { level: 3, generation, instance, at, authorities: verified, unproven: 0 },
  }
}

function anchorsIn(pem: string): Set<string> {
  return new Set(parseCertificatesPem(pem).map(({ raw }) => Buffer.from(raw).toString('base64')))
}

function isSameSet(one: ReadonlySet<string>, other: ReadonlySet<string>): boolean {
  return one.size === other.size && [...one].every(entry => other.has(entry))
}

/**
 * kube-controller-manager and kube-scheduler read their kubeconfig once: a process that was started after it was written, and
 * answers, has loaded it (L2). No chain can be shown to them alone, so a plan that waits for more waits for ever.
 */
function managers(parts: FactParts): ConsumerFacts[] {
  const { control, role } = parts
  return control.nodes.flatMap(name => {
    const report = reportOf(name, parts)
    const said = report?.roles['apiserver-serving']
    const kinds = [
      ['kube-controller-manager', 'ControllerManager'],
      ['kube-scheduler', 'Scheduler'],
    ] as const
    return kinds.flatMap(([component, kind]): ConsumerFacts[] => {
      const instance = report?.instances[component] ?? 'unknown'
      // A node that is well without a scheduler has none that kubeadm made.
      if (report?.healthy && kind === 'Scheduler' && report.instances[component] === undefined) return []
      // Before any orders they go by the CA that kubeadm gave them.
      const generation = said?.trust || 1
      const facts: ConsumerFacts = {
        id: `${component}/${name}`,
        kind,
        node: name,
        roles: [role],
        instance,
        lastSeen: report?.seenAt ?? 0,
        // It is told with the place that it reads: the agent of its node starts it anew.
        orderable: true,
        reloads: false,
        ...(report?.healthy && { proof: { level: 2 as const, generation, instance, at: report.seenAt } }),
      }
      return [facts]
    })
  })
}

async function nodesOf(plan: Plan, bundles: Bundles, parts: FactParts): Promise<ConsumerFacts[]> {
  const { role, snapshot } = parts
  const digests = new Map([...bundles].map(([generation, { digest }]) => [generation, digest]))
  const found = snapshot.list<KubeNode>(resources.nodes).map(async node => {
    const { name } = node.metadata
    const lease = snapshot.get<Lease>(resources.leases, name, 'kube-node-lease')
    const report = decodeTrustReport(lease?.metadata.annotations?.[trustReportAnnotation])
    const bootID = node.status?.nodeInfo?.bootID
    const facts = {
      name,
      renewed: Date.parse(lease?.spec?.renewTime ?? '') || 0,
      unavailable: node.status?.conditions?.find(({ type }) => type === 'Ready')?.status !== 'True',
      // Made by the agent itself, at the real API servers, which serve the bare chain to who asks by its name.
      handshakes: report?.find(isOfAgent(role))?.verified ?? [],
      ...(bootID !== undefined && { bootID }),
      ...(report && { report }),
    }
    const consumers = nodeConsumers(facts, role, digests)
    // For the role client a report is all there is to see of an agent: whom its own server lets in is tried by nobody here.
    if (role !== 'client') return consumers
    const kubelets = consumers.filter(({ kind }) => kind === 'Kubelet')
    return Promise.all(kubelets.map(kubelet => asTried(kubelet, node, plan, bundles, parts)))
  })
  return (await Promise.all(found)).flat()
}

/** A kubelet judges clients: it is shown a certificate of each CA. What it lets in has to be what the bundle says. */
async function asTried(
  kubelet: ConsumerFacts,
  node: KubeNode,
  { from, to }: Plan,
  bundles: Bundles,
  { kubelets, control, role, targets }: FactParts,
): Promise<ConsumerFacts> {
  const both = [from, to].filter(one => control.cas.authority(role, one))
  const { instance, proof: report } = kubelet
  const generation = report?.generation ?? targets[role].bundle
  const { anchors = [1] } = bundles.get(generation) ?? {}
  const accepted = await kubelets.accepted(node, both, anchors)
  if (accepted.length === 0) return kubelet
  const isThat = both.every(one => anchors.includes(one) === accepted.includes(one))
  const at = control.clock.now()
  const handshakes = { level: 3, instance, at, authorities: accepted, unproven: 0 } as const
  return { ...kubelet, proof: { ...handshakes, generation: isThat ? generation : 0 } }
}

/** The report of a node's agent for a role. */
export function isOfAgent(role: string): (report: ReportedTrust) => boolean {
  return report => report.role === role && report.subject === 'agent'
}

function pods({ snapshot, targets, role, control }: FactParts): ConsumerFacts[] {
  const { bundle: generation, publishedAt } = targets[role]
  const tokens = snapshot
    .list<Secret>(resources.secrets)
    .filter(({ type }) => type === serviceAccountTokenType)
  return podConsumers(snapshot.list<ConsumingPod>(resources.pods), {
    generation,
    ...(publishedAt !== undefined && { at: publishedAt }),
    tokenSecrets: new Set(tokens.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)),
    now: control.clock.now(),
  })
}
