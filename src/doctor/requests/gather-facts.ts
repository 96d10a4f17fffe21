import { askingFor, reviewAccess } from '../../approve/access-review.ts'
import { AddressIndex } from '../../approve/address-index.ts'
import { readAttestation } from '../../approve/attestation.ts'
import { CertifiedIndex } from '../../approve/certified-addresses.ts'
import type { AccessReview, AttestationFacts, Facts } from '../../approve/facts.ts'
import { judge } from '../../approve/judge.ts'
import { readRequest } from '../../approve/read-request.ts'
import { requesterOf } from '../../approve/requester.ts'
import { kindOf } from '../../approve/rules/our-signer.ts'
import { subjectNode } from '../../approve/subject-node.ts'
import type { Verdict } from '../../approve/verdict.ts'
import { isStatus, type KubeClient, listAll } from '../../kube/client.ts'
import { isDenied, isFailed, isIssued } from '../../kube/csr-conditions.ts'
import { type CertificateSigningRequest, type Lease, resources, signerNames } from '../../kube/types.ts'
import { readConfigMapLedger } from '../../sign/config-map-ledger.ts'
import { isUndecided } from '../../survey/cluster-survey.ts'
import {
  type ControllerLease,
  type CsrFacts,
  controllerLease,
  isControllerLease,
} from '../../survey/csr-facts.ts'
import { createdAt, nodeOfRequest } from '../../survey/request-facts.ts'
import { clusterSurroundings, storedPolicy } from './cluster-surroundings.ts'
import { getRequest } from './find-request.ts'

/** Reads all that `explainCsr` looks at. What may not be read is among `unchecked`; only the request itself must be. */
export async function gatherCsrFacts(client: KubeClient, name: string, now: number): Promise<CsrFacts> {
  const csr = await getRequest(client, name)
  const facts: CsrFacts = { csr, now, unchecked: [] }
  if (isIssued(csr) || isFailed(csr) || isDenied(csr)) return facts
  const attempt = async <T>(what: string, work: () => Promise<T>): Promise<T | undefined> => {
    try {
      return await work()
    } catch (error) {
      if (!isStatus(error, 'Forbidden')) throw error
      facts.unchecked.push(`${what}: ${error.status.message ?? 'forbidden'}`)
      return undefined
    }
  }
  const leases = await attempt('who runs (Leases)', () => readLeases(client, now))
  if (leases) facts.leases = leases
  if (!isUndecided(csr)) return facts

  const newer = await attempt('whether it is superseded', () => findNewer(client, csr, now))
  if (newer) facts.newer = newer
  const access = await attempt('whether it may be approved (SubjectAccessReview)', () =>
    askAccess(client, csr),
  )
  if (access) facts.access = access
  const certified = new CertifiedIndex()
  const requests = await attempt('live certificates (requests)', () => addIssued(client, certified, now))
  await attempt('live certificates (the ledger)', () => addRecorded(client, certified, now))
  const attestation = await attempt('which machine it is (NodeIdentity)', () =>
    askMachine(client, csr, requests),
  )
  const verdict = await attempt('what the policy says', () =>
    judged(client, facts, { access, certified, attestation }),
  )
  if (verdict) facts.verdict = verdict
  return facts
}

async function readLeases(client: KubeClient, now: number): Promise<ControllerLease[]> {
  const { items } = await listAll<Lease>(client, resources.leases, { namespace: 'kube-system' })
  return items.filter(isControllerLease).map(lease => controllerLease(lease, now))
}

/** The newest later request for the same node and signer. */
async function findNewer(
  client: KubeClient,
  csr: CertificateSigningRequest,
  now: number,
): Promise<string | undefined> {
  const { signerName } = csr.spec
  const node = nodeOfRequest(csr)
  if (node === undefined) return undefined
  const { items } = await listAll<CertificateSigningRequest>(client, resources.certificateSigningRequests, {
    fieldSelector: `spec.signerName=${signerName}`,
  })
  const later = items.filter(
    item => createdAt(item, now) > createdAt(csr, now) && nodeOfRequest(item) === node,
  )
  return later.sort((a, b) => createdAt(b, now) - createdAt(a, now))[0]?.metadata.name
}

async function askAccess(
  client: KubeClient,
  csr: CertificateSigningRequest,
): Promise<AccessReview | undefined> {
  const { request } = readRequest(csr)
  const nodeName = request && subjectNode(request)
  if (csr.spec.signerName !== signerNames.kubeletClient || nodeName === undefined) return undefined
  // Its account must not be allowed.
  if (requesterOf(csr, undefined).kind === 'attested') return undefined
  return reviewAccess(askingFor(client), csr, nodeName, new AbortController().signal)
}

/** Of a machine that joined by proving itself. */
async function askMachine(
  client: KubeClient,
  csr: CertificateSigningRequest,
  requests: ReadonlyMap<string, CertificateSigningRequest> | undefined,
): Promise<AttestationFacts | undefined> {
  const { request } = readRequest(csr)
  const nodeName = request && subjectNode(request)
  if (nodeName === undefined || requesterOf(csr, undefined).kind !== 'attested') return undefined
  const cached = (name: string) => requests?.get(name)
  return readAttestation({ client, cached }, csr, nodeName, new AbortController().signal)
}

/** All requests, by name. */
async function addIssued(
  client: KubeClient,
  certified: CertifiedIndex,
  now: number,
): Promise<Map<string, CertificateSigningRequest>> {
  const { items } = await listAll<CertificateSigningRequest>(client, resources.certificateSigningRequests)
  for (const csr of items) if (kindOf(csr)) certified.see(csr, now)
  return new Map(items.map(csr => [csr.metadata.name, csr]))
}

/** Requests are deleted within the hour (C-40), what was issued for them lives on. */
async function addRecorded(client: KubeClient, certified: CertifiedIndex, now: number): Promise<void> {
  const { leaves } = await readConfigMapLedger(client)
  for (const leaf of leaves) certified.addLeaf(leaf, now)
}

async function judged(
  client: KubeClient,
  facts: CsrFacts,
  { access, certified, attestation }: Pick<Facts, 'access' | 'attestation'> & { certified: CertifiedIndex },
): Promise<Verdict | undefined> {
  const { csr, now } = facts
  const reading = readRequest(csr)
  // Without an answer to the access review the verdict on a client request would be no more than that.
  if (csr.spec.signerName === signerNames.kubeletClient && !access && !attestation) return undefined
  const nodeName = reading.request && subjectNode(reading.request)
  const policy = await storedPolicy(client)
  const { nodes, reserved, protection, evidence, unchecked } = await clusterSurroundings(client, [policy])
  facts.unchecked.push(...unchecked)
  if (!policy)
    facts.unchecked.push(
      'whether the controller was given a policy file (--policy): that is not seen from here',
    )
  // Webhooks and programs answer to the controller alone.
  const sources = policy?.evidenceFrom ?? []
  if (sources.length > 0)
    facts.unchecked.push(`what ${sources.join(', ')} would say (evidenceFrom): only the controller asks`)
  const claims = new AddressIndex()
  for (const node of nodes) claims.set(node)
  const node = nodes.find(({ metadata }) => metadata.name === nodeName)
  const known = { claims, certified, reserved, protection, evidence: evidence(policy) }
  const verdict = judge({ csr, reading, now, policy, access, attestation, node, ...known })
  const open = sources.length > 0 && verdict.reasons[0]?.code === 'SanUnproven'
  return open ? undefined : verdict
}
