import type { Store, StoreEvent } from '../../apiserver/storage/store.ts'
import { type CertificateSigningRequest, signerNames } from '../../kube/types.ts'
import { type Certificate, parseCertificatesPem } from '../../x509/certificate.ts'
import { formatIp } from '../../x509/ip.ts'
import { commonNames } from '../../x509/name.ts'
import { decodePem } from '../../x509/pem.ts'
import { parseCertificateRequest } from '../../x509/request.ts'

const prefix = 'registry/certificates.k8s.io/certificatesigningrequests/'
const TEN_MINUTES = 600_000
/** Backoff allows 5 attempts in the first half minute and one per 32 s after it (K-36); duplicates come on top. */
const MOST_REQUESTS = 45
/** What is issued ends the asking, but for answers and nodes that are lost on the way. */
const MOST_CERTIFICATES = 15

/** What a node owns: nobody else may get a certificate for it. */
export interface NodeClaims {
  name: string
  address: string
}

/** Watches over every certificate that is issued, as the database gets it. */
export class IssuanceWatch {
  readonly violations: string[] = []
  /** Called when a certificate was written for the node of this name. */
  onIssued: ((node: string) => void) | undefined
  /**
   * Name of a node that publishes addresses and names of others. Who proves by Node status, cannot tell before the
   * rightful holder is there (ADR 6): it may get an address that nobody holds, and the name of a node that is to come.
   */
  thief: string | undefined
  /** Who holds which address by certificate, and until when (ms). */
  readonly #holders = new Map<string, Map<string, number>>()
  /** Certificates issued, by common name and signer. */
  readonly issued = new Map<string, number>()
  /** When (true time, ms) each node asked, and when it was given a certificate, by name and signer; the recent ones. */
  readonly #asked = new Map<string, number[]>()
  readonly #given = new Map<string, number[]>()
  /** When (true time, ms) each request that has no certificate yet was made, by its name. */
  readonly #waitingSince = new Map<string, number>()
  /** Issuances by minute of true time, for signer names that are asked for. */
  readonly #byMinute = new Map<string, number>()
  readonly #addresses: ReadonlyMap<string, string>
  readonly #now: () => number

  constructor(nodes: readonly NodeClaims[], now: () => number) {
    this.#addresses = new Map(nodes.map(({ name, address }) => [name, address]))
    this.#now = now
  }

  /** Follows a store from now on; it ends with the store's process. */
  follow(store: Pick<Store, 'watch' | 'revision'>): void {
    store.watch(prefix, store.revision, event => this.#see(event))
  }

  /** How many certificates of this signer were issued in each minute that had any, in order. */
  perMinute(signerName: string): number[] {
    return [...this.#byMinute].filter(([key]) => key.endsWith(` ${signerName}`)).map(([, count]) => count)
  }

  #see({ current, previous }: StoreEvent): void {
    if (!current) return
    const request = decode(current.value)
    const before = previous && decode(previous.value)
    if (!before) this.#countRequest(request)
    const certificate = request.status?.certificate
    const certificateBefore = before?.status?.certificate
    if (certificateBefore && certificate !== certificateBefore)
      this.#blame(request, 'changed its certificate')
    if (certificate && !certificateBefore) this.#judge(request, certificate)
  }

  #countRequest(request: CertificateSigningRequest): void {
    const wanted = requestOf(request)
    const key = `${commonNames(wanted.subject).join()} ${request.spec.signerName}`
    this.#waitingSince.set(request.metadata.name, this.#now())
    const recent = this.#countRecent(this.#asked, key)
    if (recent === MOST_REQUESTS) this.#blame(request, `is request ${recent} in ten minutes of ${key}`)
  }

  #countRecent(times: Map<string, number[]>, key: string): number {
    const recent = [...(times.get(key) ?? []), this.#now()].filter(at => at > this.#now() - TEN_MINUTES)
    times.set(key, recent)
    return recent.length
  }

  #judge(request: CertificateSigningRequest, encoded: string): void {
    const { signerName, username = '' } = request.spec
    const types = new Set(request.status?.conditions?.map(({ type }) => type))
    if (!types.has('Approved') || types.has('Denied')) this.#blame(request, 'was issued without approval')
    const wanted = requestOf(request)
    const chain = parseCertificatesPem(Buffer.from(encoded, 'base64').toString())
    const leaf = chain[0]
    if (!leaf) {
      this.#blame(request, 'was answered with no certificate')
      return
    }
    const names = commonNames(leaf.subject)
    const name = names[0] ?? ''
    const node = name.replace(/^system:node:/, '')
    if (names.length !== 1 || name !== commonNames(wanted.subject)[0])
      this.#blame(request, `got the name ${names}`)
    if (Buffer.compare(leaf.spki, wanted.spki) !== 0) this.#blame(request, 'got another key')
    if (!username.startsWith('system:bootstrap:') && username !== name) {
      this.#blame(request, `gave ${username} a certificate of ${name}`)
    }
    if (leaf.basicConstraints?.ca) this.#blame(request, 'got a CA certificate')
    if (signerName === signerNames.kubeletServing) this.#judgeNames(request, leaf, node)
    this.onIssued?.(node)
    const count = `${name} ${signerName}`
    this.issued.set(count, (this.issued.get(count) ?? 0) + 1)
    // Controllers that come back answer all that was asked every quarter of an hour meanwhile (K-36): no storm.
    const isFresh = this.#now() - (this.#waitingSince.get(request.metadata.name) ?? 0) < TEN_MINUTES
    this.#waitingSince.delete(request.metadata.name)
    const recent = isFresh ? this.#countRecent(this.#given, count) : 0
    if (recent === MOST_CERTIFICATES)
      this.#blame(request, `got certificate ${recent} in ten minutes of ${count}`)
    const minute = `${Math.floor(this.#now() / 60_000)} ${signerName}`
    this.#byMinute.set(minute, (this.#byMinute.get(minute) ?? 0) + 1)
  }

  /** Nobody gets an address or a name that belongs to another node, and no two get the same address. */
  #judgeNames(request: CertificateSigningRequest, leaf: Certificate, node: string): void {
    const own = new Set([node, this.#addresses.get(node)])
    const { dnsNames, ipAddresses } = leaf.subjectAltName
    for (const san of [...dnsNames, ...ipAddresses.map(formatIp)]) {
      const mayBe =
        node === this.thief && !this.issued.has(`system:node:${san} ${signerNames.kubeletServing}`)
      if (!own.has(san) && !mayBe) this.#blame(request, `gave ${node} the name or address ${san}`)
      this.#judgeHolders(request, san, node, leaf.notAfter)
    }
  }

  #judgeHolders(request: CertificateSigningRequest, san: string, node: string, until: number): void {
    const holders = this.#holders.get(san) ?? new Map<string, number>()
    this.#holders.set(san, holders.set(node, Math.max(until, holders.get(node) ?? 0)))
    for (const [other, end] of holders) {
      // A node's own name is stronger than any certificate (ADR 6).
      if (other !== node && end > this.#now() && san !== node)
        this.#blame(request, `gave ${node} ${san}, which ${other} holds until ${new Date(end).toISOString()}`)
    }
  }

  #blame(request: CertificateSigningRequest, what: string): void {
    this.violations.push(`${new Date(this.#now()).toISOString()} request ${request.metadata.name} ${what}`)
  }
}

function decode(value: Uint8Array): CertificateSigningRequest {
  return JSON.parse(new TextDecoder().decode(value))
}

function requestOf(request: CertificateSigningRequest) {
  const block = decodePem(Buffer.from(request.spec.request, 'base64').toString())[0]
  if (!block) throw new Error(`request ${request.metadata.name} holds no PEM`)
  return parseCertificateRequest(block.bytes)
}
