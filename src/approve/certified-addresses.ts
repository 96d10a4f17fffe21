/**
 * Which nodes hold a serving certificate for which names and addresses. Requests are deleted an hour after they were
 * issued (C-40), certificates live on: what was seen once is kept until it expires.
 */
import { isApproved, isDenied, isFailed } from '../kube/csr-conditions.ts'
import { type CertificateSigningRequest, signerNames } from '../kube/types.ts'
import type { Leaf } from '../sign/leaf.ts'
import { type Certificate, parseCertificatesPem } from '../x509/certificate.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { commonName } from '../x509/name.ts'
import { canonicalAddress, canonicalDns, canonicalIp } from './canonical-name.ts'
import type { CertifiedAddresses, CertifiedHolder } from './evidence/live-certificate.ts'
import { KeyHolders } from './key-holders.ts'
import { readRequest } from './read-request.ts'
import { requestedSans } from './requested-sans.ts'
import { nodeUserPrefix } from './requester.ts'
import { subjectNode } from './subject-node.ts'

/** Certificates taken in between two sweeps for expired ones, at least. */
const sweepEvery = 1000

export class CertifiedIndex implements CertifiedAddresses {
  /** By name or address, by node: milliseconds since the epoch. */
  readonly #until = new Map<string, Map<string, number>>()
  readonly #keys = new KeyHolders()
  /** Approved, not issued yet: by name or address, by the request's uid, the node. */
  readonly #reserved = new Map<string, Map<string, string>>()
  /** By the request's uid. */
  readonly #reservations = new Map<string, readonly string[]>()
  /** By signer and node: when its longest certificate expires, milliseconds since the epoch. */
  readonly #expiry = new Map<string, number>()
  #sinceSweep = 0

  /** From the moment that a request is approved until its certificate is seen, or it failed or is gone. */
  reserve(uid: string, nodeName: string, canonical: readonly string[], keyHash?: string): void {
    this.release(uid)
    const names = keyHash === undefined ? canonical : [...canonical, keyName(keyHash)]
    this.#reservations.set(uid, names)
    for (const name of names) {
      const nodes = this.#reserved.get(name) ?? new Map<string, string>()
      this.#reserved.set(name, nodes.set(uid, nodeName))
    }
  }

  release(uid: string): void {
    for (const name of this.#reservations.get(uid) ?? []) {
      const nodes = this.#reserved.get(name)
      nodes?.delete(uid)
      if (nodes?.size === 0) this.#reserved.delete(name)
    }
    this.#reservations.delete(uid)
  }

  /**
   * Takes in what a request says about certificates. `now` in milliseconds since the epoch; `leaf`: its certificate, where
   * somebody read it already.
   */
  see(csr: CertificateSigningRequest, now: number, leaf?: Certificate): void {
    const { signerName } = csr.spec
    const uid = csr.metadata.uid ?? csr.metadata.name
    const { certificate } = csr.status ?? {}
    if (certificate) {
      this.#addCertificate(signerName, leaf ?? firstCertificate(certificate), now)
      this.release(uid)
    } else if (isFailed(csr) || isDenied(csr)) this.release(uid)
    // What was approved here is reserved already, and what it asks for never changes.
    else if (isApproved(csr) && !this.#reservations.has(uid)) {
      const { request } = readRequest(csr)
      const nodeName = request && subjectNode(request)
      if (!nodeName) return
      this.reserve(
        uid,
        nodeName,
        requestedSans(request).map(san => san.canonical),
        sha256Hex(request.spki),
      )
    }
  }

  /** Takes in what was signed, as the signer's ledger has it. */
  addLeaf({ signerName, holder, dnsNames, ipAddresses, notAfter, publicKeyHash }: Leaf, now: number): void {
    const canonical = [...dnsNames.map(canonicalDns), ...ipAddresses.map(ip => canonicalAddress(ip).text)]
    this.#add(signerName, holder, canonical, notAfter, publicKeyHash, now)
  }

  /** When the node's certificate of this signer expires, milliseconds since the epoch; undefined: none is known. */
  expiryOf(signerName: string, nodeName: string): number | undefined {
    return this.#expiry.get(`${signerName} ${nodeName}`)
  }

  /** Anything that is no node's certificate certifies nothing here. */
  #addCertificate(signerName: string, leaf: Certificate | undefined, now: number): void {
    if (!leaf) return
    const { dnsNames, ipAddresses } = leaf.subjectAltName
    const canonical = [...dnsNames.map(canonicalDns), ...ipAddresses.map(canonicalIp)]
    this.#add(signerName, commonName(leaf.subject), canonical, leaf.notAfter, sha256Hex(leaf.spki), now)
  }

  #add(
    signerName: string,
    holder: string,
    canonical: readonly string[],
    notAfter: number,
    keyHash: string,
    now: number,
  ): void {
    if (!holder.startsWith(nodeUserPrefix) || notAfter <= now) return
    const nodeName = holder.slice(nodeUserPrefix.length)
    const key = `${signerName} ${nodeName}`
    this.#expiry.set(key, Math.max(notAfter, this.#expiry.get(key) ?? 0))
    if (signerName === signerNames.kubeletServing) this.add(nodeName, canonical, notAfter)
    this.#keys.add(keyHash, nodeName, notAfter, now)
    // A sweep looks at all there are: so many of them come before the next one.
    if (++this.#sinceSweep >= Math.max(sweepEvery, this.#until.size + this.#expiry.size)) this.#sweep(now)
  }

  /** The node holds a certificate for these (canonical form) until then, milliseconds since the epoch. */
  add(nodeName: string, names: readonly string[], until: number): void {
    for (const canonical of names) {
      const nodes = this.#until.get(canonical) ?? new Map<string, number>()
      this.#until.set(canonical, nodes.set(nodeName, Math.max(until, nodes.get(nodeName) ?? 0)))
    }
  }

  keyHolders(keyHash: string, now: number): readonly CertifiedHolder[] {
    return this.#withReserved(keyName(keyHash), this.#keys.holders(keyHash, now))
  }

  holders(canonical: string, now: number): readonly CertifiedHolder[] {
    const certified = [...(this.#until.get(canonical) ?? [])].map(([nodeName, until]) => ({
      nodeName,
      until,
    }))
    return this.#withReserved(
      canonical,
      certified.filter(({ until }) => until > now),
    )
  }

  #withReserved(name: string, certified: readonly CertifiedHolder[]): CertifiedHolder[] {
    const reserved = new Set(this.#reserved.get(name)?.values())
    return [
      ...[...reserved].map(nodeName => ({ nodeName, until: Number.POSITIVE_INFINITY })),
      ...certified.filter(({ nodeName }) => !reserved.has(nodeName)),
    ]
  }

  #sweep(now: number): void {
    this.#sinceSweep = 0
    for (const [key, until] of this.#expiry) if (until <= now) this.#expiry.delete(key)
    for (const [canonical, nodes] of this.#until) {
      for (const [nodeName, until] of nodes) if (until <= now) nodes.delete(nodeName)
      if (nodes.size === 0) this.#until.delete(canonical)
    }
  }
}

/** A key that is reserved stands among the names; no name has a space in it. */
const keyName = (keyHash: string) => `key ${keyHash}`

/** The leaf of a chain in PEM, in base64. */
function firstCertificate(base64: string): Certificate | undefined {
  try {
    return parseCertificatesPem(Buffer.from(base64, 'base64').toString('latin1'))[0]
  } catch {
    // Another signer may have written what it liked; nobody is served with what no parser reads.
    return undefined
  }
}
