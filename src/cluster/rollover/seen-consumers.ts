/** Who has come, and what each connection has proven: told of every authenticated request. */
import type { Peer } from '../../kube/transport.ts'
import type { UserInfo } from '../../kube/types.ts'
import { type Certificate, parseCertificateOnce } from '../../x509/certificate.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'

/** Somebody without an agent of ours: told apart by user, address and program, as far as that goes. */
export interface Stranger {
  id: string
  kind: 'External' | 'Pod'
  /** Empty for one that was remembered from before a restart, until it comes again. */
  address: string
  /** A Pod's. */
  uid?: string
  lastSeen: number
  /** When it last asked something after a handshake with the bare chain of this CA. */
  handshakes: Map<number, number>
  lastFailure?: number
}

/** A client certificate that somebody has shown. */
export interface PresentedLeaf {
  /** Hexadecimal, as the ledger files it. */
  serialNumber: string
  authority: number
  user: string
  notAfter: number
}

/** What is kept apart of one user's: who comes from ever new addresses, as ever new programs, is one more that counts as many. */
const mostOfUser = 256

/** As whom the control plane tries certificates of its CAs, which is no use of them. */
export const canaryUser = 'rollcall:canary'

const nodePrefix = 'system:node:'
const bootstrapPrefix = 'system:bootstrap:'
const podName = 'authentication.kubernetes.io/pod-name'
const podUid = 'authentication.kubernetes.io/pod-uid'

/** Chains are named AUTHORITY/MODE. */
export function chainId(authority: number, mode: string): string {
  return `${authority}/${mode}`
}

/** CA whose chain the connection was served with. */
export function servedBy({ chain }: Peer): number | undefined {
  return chain === undefined ? undefined : Number(chain.split('/')[0])
}

const nobody: ReadonlySet<string> = new Set(['system:anonymous', canaryUser])

export class SeenConsumers {
  readonly #issuerOf: (leaf: Certificate) => number | undefined
  readonly #peers = new WeakMap<Peer, Stranger>()
  readonly #countOfUser = new Map<string, number>()
  readonly strangers = new Map<string, Stranger>()
  /** Node name to CA to the last request after a handshake with its bare chain. */
  readonly nodeHandshakes = new Map<string, Map<number, number>>()
  /** CA of the client certificate to its last use by each holder, as the ledger names holders. */
  readonly clientUse = new Map<number, Map<string, number>>()
  /** CA whose chain was served to the last request of each consumer on such a connection. */
  readonly served = new Map<number, Map<string, number>>()
  /** Client certificates of our CAs that others than nodes have shown, each once. */
  readonly presented = new Map<string, PresentedLeaf>()
  readonly #shown = new WeakSet<Uint8Array>()

  constructor(issuerOf: (leaf: Certificate) => number | undefined) {
    this.#issuerOf = issuerOf
  }

  /** `now` in milliseconds since the epoch; `program` is the User-Agent. */
  request(user: UserInfo, peer: Peer, program: string | undefined, now: number): void {
    const { chain, certificates } = peer
    // Calls inside the process have no handshake.
    const { username } = user
    if (chain === undefined || username === undefined || nobody.has(username)) return
    const [authority = 0, mode] = chain
      .split('/')
      .map((part, index) => (index === 0 ? Number(part) : part)) as [number, string]
    const node = username.startsWith(nodePrefix) ? username.slice(nodePrefix.length) : undefined
    const [leaf] = certificates ?? []
    if (leaf) this.#used(leaf, node === undefined ? username : undefined, holderOf(username), now)
    if (node !== undefined) {
      note(this.served, authority, `kubelet/${node}`, now)
      if (mode === 'bare') note(this.nodeHandshakes, node, authority, now)
      return
    }
    // A joiner trusts what a seed gave it, which is read back, and counts as a node from its first request on.
    if (username.startsWith(bootstrapPrefix)) {
      note(this.served, authority, 'joiners', now)
      return
    }
    const stranger = this.#stranger(user, peer, program)
    stranger.lastSeen = now
    note(this.served, authority, stranger.id, now)
    this.#peers.set(peer, stranger)
    // What stands for many never proves them all.
    if (mode === 'bare' && !stranger.id.endsWith(` ${elsewhere}`)) stranger.handshakes.set(authority, now)
  }

  /**
   * A connection with the bare chain of a CA ended without a request: somebody at this address does not trust it. Many may
   * share an address, so it is put down to those that have not proven to trust the CA; where all have, each has to anew.
   */
  refused(address: string, authority: number, now: number): void {
    const doubtful = this.unproven(address, authority)
    for (const stranger of doubtful.length > 0 ? doubtful : this.#at(address)) {
      stranger.lastFailure = now
      stranger.handshakes.delete(authority)
    }
  }

  /** Those at the address that have not shown to trust the CA. */
  unproven(address: string, authority: number): Stranger[] {
    return this.#at(address).filter(({ handshakes }) => !handshakes.has(authority))
  }

  #at(address: string): Stranger[] {
    return [...this.strangers.values()].filter(stranger => stranger.address === address)
  }

  #used(der: Uint8Array, user: string | undefined, holder: string, now: number): void {
    const leaf = parseCertificateOnce(der)
    const authority = this.#issuerOf(leaf)
    if (authority === undefined) return
    note(this.clientUse, authority, holder, now)
    // The bytes are the same ones for as long as their connection lasts.
    if (user === undefined || this.#shown.has(der)) return
    this.#shown.add(der)
    const serialNumber = Buffer.from(leaf.serialNumber).toString('hex')
    this.show({ serialNumber, authority, user, notAfter: leaf.notAfter }, now)
  }

  /** Whether the peer has shown a client certificate of this CA. */
  presents({ certificates }: Peer, authority: number): boolean {
    const [leaf] = certificates ?? []
    return leaf !== undefined && this.#issuerOf(parseCertificateOnce(leaf)) === authority
  }

  /** Whose connection it is. */
  strangerOf(peer: Peer): Stranger | undefined {
    return this.#peers.get(peer)
  }

  /** One of whom it is known from before a restart; it has proven nothing to this process. */
  remember(known: Pick<Stranger, 'id' | 'kind' | 'lastSeen'>): void {
    const uid = /^pod\/.* ([^ ]+)$/.exec(known.id)?.[1]
    if (this.strangers.has(known.id)) return
    const username = /^user\/(.*) at /.exec(known.id)?.[1]
    if (username !== undefined) this.#countOfUser.set(username, (this.#countOfUser.get(username) ?? 0) + 1)
    this.strangers.set(known.id, {
      ...known,
      address: '',
      handshakes: new Map(),
      ...(known.kind === 'Pod' && uid !== undefined && { uid }),
    })
  }

  /** A certificate that is in somebody's hands. */
  show(leaf: PresentedLeaf, now: number): void {
    this.presented.set(`${leaf.authority} ${leaf.serialNumber}`, leaf)
    if (this.presented.size % 1024 !== 0) return
    for (const [name, { notAfter }] of this.presented) if (notAfter < now) this.presented.delete(name)
  }

  forget(id: string): void {
    this.strangers.delete(id)
    for (const users of this.served.values()) users.delete(id)
  }

  #stranger(user: UserInfo, { remoteAddress }: Peer, program = ''): Stranger {
    const { username = '', extra } = user
    const uid = extra?.[podUid]?.[0]
    const own = ownName(user, remoteAddress, program)
    const known = this.strangers.get(own)
    if (known) {
      known.address = remoteAddress
      return known
    }
    const count = this.#countOfUser.get(username) ?? 0
    const id = uid !== undefined || count < mostOfUser ? own : `user/${username} ${elsewhere}`
    const made: Stranger = this.strangers.get(id) ?? {
      id,
      kind: uid === undefined ? 'External' : 'Pod',
      address: remoteAddress,
      lastSeen: 0,
      handshakes: new Map(),
      ...(uid !== undefined && { uid }),
    }
    if (!this.strangers.has(id) && uid === undefined) this.#countOfUser.set(username, count + 1)
    this.strangers.set(id, made)
    return made
  }
}

const elsewhere = 'elsewhere'

/** By which a stranger is told apart; a TrustConsumer's identity has at most 512 characters. */
function ownName({ username = '', extra }: UserInfo, address: string, program: string): string {
  const uid = extra?.[podUid]?.[0]
  const product = /^[A-Za-z0-9._-]{1,40}/.exec(program)?.[0] ?? 'unknown'
  const name =
    uid === undefined ? `user/${username} at ${address} by ${product}` : `pod/${extra?.[podName]?.[0]} ${uid}`
  return name.length <= 512 ? name : `${name.slice(0, 440)} ${sha256Hex(Buffer.from(name))}`
}

/** As holders of certificates are named in the gate that waits for them. */
function holderOf(username: string): string {
  return username.startsWith(nodePrefix) ? `kubelet/${username.slice(nodePrefix.length)}` : `user/${username}`
}

function note<A, B>(map: Map<A, Map<B, number>>, one: A, other: B, now: number): void {
  const known = map.get(one) ?? new Map<B, number>()
  known.set(other, now)
  map.set(one, known)
}
