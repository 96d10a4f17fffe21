import { createHash } from 'node:crypto'

/** What the name of a request made by the kubelet's blocking bootstrap is computed from (K-22). */
export interface LegacyRequestIdentity {
  /** SubjectPublicKeyInfo in DER. */
  spki: Uint8Array
  commonName: string
  organizations: readonly string[]
  usages: readonly string[]
}

/**
 * The name that the kubelet's blocking bootstrap (`rotateCertificates: false`) and kubeadm-like tools give a request:
 * `node-csr-` and a hash of what is asked for, so the same key finds its earlier request again (K-22, K-23).
 * Rollcall itself never makes such names; it recognises them.
 */
export function legacyRequestName(identity: LegacyRequestIdentity): string {
  const hash = createHash('sha512-256')
  const items = [identity.spki, identity.commonName, ...identity.organizations, ...identity.usages]
  for (const item of items) hash.update(`${Buffer.from(item).toString('base64url')}|`)
  return `node-csr-${hash.digest('base64url')}`
}
