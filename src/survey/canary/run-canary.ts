/**
 * A request that proves approver and signer end to end: as a node that there is not, for ten minutes, with a key that is
 * dropped before anybody could use it.
 */
import { generateSigner } from '../../keys/private-key.ts'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { csrCondition, isApproved, isDenied, isFailed, isIssued } from '../../kube/csr-conditions.ts'
import { type CertificateSigningRequest, resources, signerNames } from '../../kube/types.ts'
import { type Clock, type Random, sleep } from '../../ports.ts'
import { nameOf } from '../../x509/name.ts'
import { encodePem } from '../../x509/pem.ts'
import { assembleSigned, encodeRequestInfo } from '../../x509/request.ts'

/** Who asks. A renewal of its own certificate is what any node may have (C-12), so no binding of its own is needed. */
export const canaryUser = 'system:node:rollcall-canary'
export const canaryGroup = 'system:nodes'

export interface CanaryOutcome {
  /** Name of the request, which is deleted afterwards where that is allowed. */
  request: string
  ended: 'issued' | 'undecided' | 'denied' | 'unsigned' | 'failed'
  /** Milliseconds until it was over, by our clock. */
  took: number
  /** What the condition that ended it says. */
  message?: string
  /** PEM, where it was issued. */
  certificate?: string
}

export interface CanaryOptions {
  /** Acts as `canaryUser` in `canaryGroup`. */
  asNode: KubeClient
  /** Reads and deletes the request. */
  client: KubeClient
  clock: Clock
  random: Random
  /** Milliseconds. */
  patience: number
  signal?: AbortSignal
}

/** The shortest that Kubernetes lets one ask for. */
const lifeSeconds = 600
/** Milliseconds between looks. */
const pause = 500

/** Rejects with ApiStatusError Forbidden without the right to impersonate, and with what the client throws. */
export async function runCanary(options: CanaryOptions): Promise<CanaryOutcome> {
  const { asNode, client, clock, patience, signal } = options
  const began = clock.monotonic()
  const created = await asNode.create<CertificateSigningRequest>(
    resources.certificateSigningRequests,
    {
      apiVersion: 'certificates.k8s.io/v1',
      kind: 'CertificateSigningRequest',
      metadata: { name: '', generateName: 'rollcall-canary-' },
      spec: {
        request: Buffer.from(await canaryRequest(options)).toString('base64'),
        signerName: signerNames.kubeletClient,
        usages: ['digital signature', 'client auth'],
        expirationSeconds: lifeSeconds,
      },
    },
    signal ? { signal } : {},
  )
  const { name } = created.metadata
  let csr = created
  while (!isOver(csr) && clock.monotonic() - began < patience && !signal?.aborted) {
    await sleep(clock, pause, signal)
    csr = await client.get<CertificateSigningRequest>(resources.certificateSigningRequests, { name })
  }
  await remove(client, name)
  return { request: name, took: clock.monotonic() - began, ...outcomeOf(csr) }
}

/** PEM. The key is in this function alone. */
async function canaryRequest({ random }: CanaryOptions): Promise<string> {
  const key = generateSigner('ECDSA-P256', random)
  const subject = nameOf({ commonName: canaryUser, organizations: [canaryGroup] })
  const tbs = encodeRequestInfo({ subject, spki: key.publicKey })
  return encodePem('CERTIFICATE REQUEST', assembleSigned(tbs, key.algorithm, await key.sign(tbs)))
}

const isOver = (csr: CertificateSigningRequest) => isIssued(csr) || isDenied(csr) || isFailed(csr)

function outcomeOf(csr: CertificateSigningRequest): Pick<CanaryOutcome, 'ended' | 'message' | 'certificate'> {
  const certificate = Buffer.from(csr.status?.certificate ?? '', 'base64').toString()
  if (isIssued(csr)) return { ended: 'issued', certificate }
  for (const [type, ended] of [
    ['Failed', 'failed'],
    ['Denied', 'denied'],
  ] as const) {
    const condition = csrCondition(csr, type)
    if (condition) return { ended, message: `${condition.reason ?? ''}: ${condition.message ?? ''}` }
  }
  return { ended: isApproved(csr) ? 'unsigned' : 'undecided' }
}

/** Who may not delete it leaves it to the cleaner, an hour after it was issued (C-40). */
async function remove(client: KubeClient, name: string): Promise<void> {
  try {
    await client.delete(resources.certificateSigningRequests, { name })
  } catch (error) {
    if (!isStatus(error, 'Forbidden') && !isStatus(error, 'NotFound')) throw error
  }
}
