import { createHash } from 'node:crypto'
import { isStatus, type KubeClient } from '../kube/client.ts'
import { sameJson } from '../kube/json.ts'
import type { CertificatePolicy, CertificatePolicySpec } from '../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies, policyInForce } from '../kube/rollcall/certificate-policy.ts'
import { type ConfigMap, resources } from '../kube/types.ts'
import type { Log } from '../ports.ts'
import { addressBlocks } from './address-blocks.ts'
import { clusterDomain, serviceRange } from './identities.ts'

/**
 * The policy `up` and `server` start with: evidence is the Node's status; `up` allows exactly its fleet's loopback
 * addresses, which are reserved otherwise.
 */
export function defaultPolicySpec(fleetAddresses: readonly string[]): CertificatePolicySpec {
  return {
    evidence: 'NodeStatus',
    allowedRanges: addressBlocks(fleetAddresses),
    serviceRanges: [serviceRange],
    clusterDomain,
  }
}

/** Digest of the spec that was made here, so that one somebody else changed is known. */
const annotation = 'rollcall.dev/made-as'

/** Says that the policy was made once, so that one that is not there any more was deleted. */
const madeOnce = { namespace: 'kube-system', name: 'rollcall-policy-made' }

/**
 * Creates the policy once, or brings up to date what nobody changed since: another fleet has other addresses. One that
 * was deleted stays deleted: whoever did so wants each request to wait for a person, or a policy from a file.
 */
export async function publishPolicy(
  client: KubeClient,
  spec: CertificatePolicySpec,
  log: Log,
): Promise<void> {
  const made: CertificatePolicy = {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'CertificatePolicy',
    metadata: { name: policyInForce, annotations: { [annotation]: digestOf(spec) } },
    spec,
  }
  const stored = await read(client)
  const before = await wasMade(client)
  if (!stored && before)
    log.warn(
      `CertificatePolicy ${policyInForce} was deleted and is not made again; to have it back, delete ConfigMap ${madeOnce.namespace}/${madeOnce.name} and start anew`,
    )
  else if (!stored) await client.create(certificatePolicies, made)
  else if (stored.metadata.annotations?.[annotation] !== digestOf(stored.spec))
    log.info(`CertificatePolicy ${policyInForce} was changed by somebody and stays as it is`)
  else if (!sameJson(stored.spec, spec))
    await client.update(certificatePolicies, {
      ...stored,
      metadata: {
        ...stored.metadata,
        annotations: { ...stored.metadata.annotations, ...made.metadata.annotations },
      },
      spec,
    })
  // After it: stopped in between, the next start makes the policy rather than none at all.
  if (!before) await client.create<ConfigMap>(resources.configMaps, markerObject)
}

const markerObject: ConfigMap = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: madeOnce,
  data: { policy: policyInForce },
}

async function wasMade(client: KubeClient): Promise<boolean> {
  try {
    await client.get<ConfigMap>(resources.configMaps, madeOnce)
    return true
  } catch (error) {
    if (isStatus(error, 'NotFound')) return false
    throw error
  }
}

async function read(client: KubeClient): Promise<CertificatePolicy | undefined> {
  try {
    return await client.get<CertificatePolicy>(certificatePolicies, { name: policyInForce })
  } catch (error) {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  }
}

/** Whatever the order of its fields. */
function digestOf(spec: CertificatePolicySpec): string {
  const fields = Object.entries(spec).sort(([a], [b]) => (a < b ? -1 : 1))
  return createHash('sha256').update(JSON.stringify(fields)).digest('hex').slice(0, 16)
}
