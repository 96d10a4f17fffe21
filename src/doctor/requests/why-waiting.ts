/** Of each request that nobody decided: what the doctor says to it, and which of its names its Node does not have. */
import { canonicalAddress } from '../../approve/canonical-name.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { CertificateSigningRequest, KubeNode } from '../../kube/types.ts'
import { isControllerLease } from '../../survey/csr-facts.ts'
import { namesIn } from '../../survey/requested-names.ts'
import { allChecks } from '../all-checks.ts'
import { type GatheredArtifacts, nothingGathered } from '../artifacts/artifacts.ts'
import { type Diagnosis, runChecks } from '../diagnose.ts'
import { askAccess, requesterQuestions } from '../gather/access.ts'
import { attempt } from '../gather/attempt.ts'
import { listLeases, listNodes } from '../gather/objects.ts'
import { type RequestFacts, readRequests } from '../request-facts.ts'
import { withoutSymptoms } from '../root-causes.ts'

export interface Waiting {
  /** `C01 No role allows …`; empty where nothing is said yet. */
  why: string
  /** `DNS x`, `IP y` of a serving request that are not on the Node, or all where there is no Node; absent: not known. */
  notOnNode?: string[]
}

/** By the name of the request. `now` in milliseconds since the epoch. */
export async function whyWaiting(
  client: KubeClient,
  requests: readonly CertificateSigningRequest[],
  now: number,
): Promise<Map<string, Waiting>> {
  const [nodes, controllerLeases, requesterAccess] = await Promise.all([
    attempt(() => listNodes(client)),
    attempt(async () => (await listLeases(client, 'kube-system')).filter(isControllerLease)),
    attempt(() => askAccess(client, requesterQuestions(requests, now))),
  ])
  const gathered: GatheredArtifacts = {
    ...nothingGathered(''),
    requests: { status: 'ok', value: [...requests] },
    nodes,
    controllerLeases,
    requesterAccess,
  }
  const { diagnoses } = runChecks(gathered, now, allChecks)
  const { causes } = withoutSymptoms(diagnoses)
  const there = nodes.status === 'ok' ? nodes.value : undefined
  const waiting = readRequests(requests, there, now).filter(({ state }) => state === 'undecided')
  return new Map(waiting.map(request => [request.name, waitingOf(request, { diagnoses, causes }, there)]))
}

interface Found {
  diagnoses: readonly Diagnosis[]
  causes: readonly Diagnosis[]
}

function waitingOf(request: RequestFacts, found: Found, nodes: readonly KubeNode[] | undefined): Waiting {
  const notOnNode = nodes && namesNotOnNode(request, nodes)
  return { why: whyOf(request, found), ...(notOnNode && { notOnNode }) }
}

function whyOf({ name, newest }: RequestFacts, { diagnoses, causes }: Found): string {
  if (!newest) return 'superseded: a newer one asks for the same'
  const isOwn = ({ object }: Diagnosis) => object === `CertificateSigningRequest ${name}`
  const symptom = diagnoses.find(isOwn)
  const cause = causes.find(isOwn) ?? causes.find(other => symptom && accountsFor(other, symptom))
  if (!symptom || !cause) return ''
  return `${cause.check.meta.id} ${cause.check.meta.failureTitle}`
}

function accountsFor({ check, everywhere, node }: Diagnosis, symptom: Diagnosis): boolean {
  if (!check.meta.explains?.includes(symptom.check.meta.id)) return false
  return everywhere === true || (node !== undefined && node === symptom.node)
}

function namesNotOnNode(
  { kind, node, asked }: RequestFacts,
  nodes: readonly KubeNode[],
): string[] | undefined {
  if (kind !== 'serving' || !asked.ok) return undefined
  const addresses = nodes.find(({ metadata }) => metadata.name === node)?.status?.addresses ?? []
  const held = new Set(addresses.map(({ address }) => canonicalAddress(address).text))
  return namesIn(asked.value.subjectAltName).filter(
    name => !held.has(canonicalAddress(name.replace(/^(DNS|IP) /, '')).text),
  )
}
