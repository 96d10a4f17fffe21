/** kube-public/cluster-info as a machine without trust reads it: what a token's signature and the pins prove of it. */
import { createHash, timingSafeEqual } from 'node:crypto'
import { parse } from 'yaml'
import { detachedSignature } from '../../keys/detached-jws.ts'
import { Secret } from '../../keys/secret.ts'
import { isRecord } from '../../kube/json.ts'
import { type Certificate, parseCertificatesPem } from '../../x509/certificate.ts'
import { encodePem } from '../../x509/pem.ts'
import type { NothingReason } from '../credential-sources.ts'
import { vouchedFor } from './ca-pin.ts'

export interface BootstrapToken {
  id: string
  secret: Secret
}

/** undefined: the text is no bootstrap token. */
export function bootstrapTokenOf(text: string): BootstrapToken | undefined {
  const [, id, secret] = /^([a-z0-9]{6})\.([a-z0-9]{16})$/.exec(text.trim()) ?? []
  return id === undefined || secret === undefined ? undefined : { id, secret: new Secret(secret) }
}

export interface Discovered {
  ok: true
  /** The API server as the cluster names it. */
  server: string
  /** PEM: what is trusted from now on. */
  certificateAuthority: string
  /** The text that was signed. */
  kubeconfig: string
}

export type Discovery = Discovered | { ok: false; reason: NothingReason; message: string }

/**
 * Judges the ConfigMap's `data` that came over a connection nobody vouches for. `pins`: SHA-256 of CA keys in lower-case
 * hexadecimal; none: the token's signature alone is to be enough.
 */
export function readClusterInfo(
  data: Readonly<Record<string, unknown>>,
  { id, secret }: BootstrapToken,
  pins: readonly string[],
): Discovery {
  const { kubeconfig } = data
  const signature = data[`jws-kubeconfig-${id}`]
  if (typeof kubeconfig !== 'string') return nothing('Invalid', 'kube-public/cluster-info has no kubeconfig')
  if (typeof signature !== 'string')
    return nothing('Waiting', `kube-public/cluster-info is not signed by token "${id}"; it may have expired`)
  // As kubeadm: made again and compared, so that no header of another algorithm is ever looked at.
  if (!sameText(signature, detachedSignature(kubeconfig, id, secret)))
    return nothing(
      'Invalid',
      `the signature of token "${id}" in kube-public/cluster-info is wrong: the token is, or somebody stands in between`,
    )
  const cluster = clusterOf(kubeconfig)
  if (!cluster.ok) return cluster
  const trusted = pins.length === 0 ? cluster.bundle : vouchedFor(cluster.bundle, pins)
  if (trusted.length === 0)
    return nothing(
      'Invalid',
      `none of the ${cluster.bundle.length} CAs in kube-public/cluster-info is pinned: the pin is wrong, the CA was changed, or somebody stands in between`,
    )
  return {
    ok: true,
    server: cluster.server,
    certificateAuthority: trusted.map(({ raw }) => encodePem('CERTIFICATE', raw)).join(''),
    kubeconfig,
  }
}

/** The only cluster of a kubeconfig as kubeadm writes it: without contexts, and the cluster's name is empty. */
function clusterOf(
  text: string,
):
  | { ok: true; server: string; bundle: Certificate[] }
  | { ok: false; reason: NothingReason; message: string } {
  const place = 'the kubeconfig in kube-public/cluster-info'
  try {
    const config: unknown = parse(text, { prettyErrors: false })
    const [entry, ...more] = isRecord(config) && Array.isArray(config.clusters) ? config.clusters : []
    const cluster = isRecord(entry) && isRecord(entry.cluster) ? entry.cluster : undefined
    if (!cluster || more.length > 0) return nothing('Invalid', `${place} does not name exactly one cluster`)
    const { server, 'certificate-authority-data': authority } = cluster
    if (typeof server !== 'string' || !server.startsWith('https://'))
      return nothing('Invalid', `${place} names no https server`)
    const pem = typeof authority === 'string' ? Buffer.from(authority, 'base64').toString('utf8') : ''
    const bundle = parseCertificatesPem(pem)
    if (bundle.length === 0) return nothing('Invalid', `${place} holds no CA`)
    return { ok: true, server, bundle }
  } catch (error) {
    return nothing('Invalid', `${place}: ${error instanceof Error ? error.message : String(error)}`)
  }
}

/** Compared by their hashes, so that the time taken tells nothing. */
function sameText(one: string, other: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}

function nothing(
  reason: NothingReason,
  message: string,
): { ok: false; reason: NothingReason; message: string } {
  return { ok: false, reason, message }
}
