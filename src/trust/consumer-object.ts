/** Consumers as TrustConsumer objects: what people and `rollcall trust ls` see. */

import type { TrustRole } from '../kube/rollcall/trust-bundle.ts'
import type { ConsumerState, TrustConsumerObject, TrustProof } from '../kube/rollcall/trust-consumer.ts'
import type { ConsumerFacts } from '../rollover/observations.ts'
import { sha256Hex } from '../x509/fingerprint.ts'

/**
 * The object that should be, with `before` the one that is: proofs of other roles stay. Only the controller writes it; the
 * times are in whole seconds, so that it changes no more often than that.
 */
export function consumerObject(
  facts: ConsumerFacts,
  role: TrustRole,
  state: ConsumerState,
  before?: TrustConsumerObject,
): TrustConsumerObject {
  const { id, kind, instance, proof, lastSeen, lastFailure, node } = facts
  const others = before?.status?.proofs?.filter(other => other.role !== role) ?? []
  const proofs = proof ? [...others, shown(proof, role)] : others
  const roles = new Set([...(before?.spec.roles ?? []), ...facts.roles])
  return {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'TrustConsumer',
    metadata: before?.metadata ?? { name: objectName(id) },
    spec: {
      consumerKind: kind,
      identity: id,
      roles: [...roles].sort(),
      ...(node === undefined ? {} : { node }),
    },
    status: {
      ...before?.status,
      state,
      instance,
      lastSeen: seconds(lastSeen),
      ...(lastFailure === undefined ? {} : { lastFailure: seconds(lastFailure) }),
      proofs: proofs.sort((a, b) => (a.role < b.role ? -1 : 1)),
    },
  }
}

/** A name that Kubernetes takes, for any id; ids that differ have names that differ. */
export function objectName(id: string): string {
  const plain = id.toLowerCase().replace(/[^a-z0-9]+/g, '-')
  const trimmed = plain.replace(/^-+/, '').slice(0, 200).replace(/-+$/, '')
  return `${trimmed || 'consumer'}-${sha256Hex(Buffer.from(id)).slice(0, 8)}`
}

function shown(
  { level, generation, instance, at, authorities }: NonNullable<ConsumerFacts['proof']>,
  role: TrustRole,
): TrustProof {
  const by = level >= 3 ? 'handshake' : 'report'
  const proof = { role, level, generation, instance, at: seconds(at), by }
  return authorities ? { ...proof, authorities: [...authorities].sort((a, b) => a - b) } : proof
}

function seconds(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}
