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

/** What is kept apart of one user's: who comes from ever new addresses, as ever new programs, is one more that counts as many. */
const mostOfUser = 256

const nodePrefix = 'system:node:'
const bootstrapPrefix = 'system:bootstrap:'
const podName = 'authentication.kubernetes.io/pod-name'
const podUid = 'authentication.kubernetes.io/pod-uid'

/** Chains are named AUTHORITY/MODE. */
export function chainId(authority: number, mode: string): string {
  return `${authority}/${mode}`
}

export class SeenConsumers {
  readonly #issuerOf: (leaf: Certificate) => number | undefined
  readonly #peers = new WeakMap<Peer, Stranger>()
  readonly #countOfUser = new Map<string, number>()
  readonly strangers = new Map<string, Stranger>()
  /** Node name to CA to the last request after a handshake with its bare chain. */
  readonly nodeHandshakes = new Map<string, Map<number, number>>()
  /** CA of the client certificate to its last use, by anybody, and by each node. */
  readonly clientUse = new Map<number, number>()
  readonly nodeClientUse = new Map<string, Map<number, number>>()
  /** CA whose chain was served to the last use. */
  readonly served = new Map<number, number>()

  constructor(issuerOf: (leaf: Certificate) => number | undefined) {
    this.#issuerOf = issuerOf
  }

  /** `now` in milliseconds since the epoch; `program` is the User-Agent. */
  request(user: UserInfo, peer: Peer, program: string | undefined, now: number): void {
    const { chain, certificates } = peer
    // Calls inside the process have no handshake.
    if (chain === undefined || user.username === undefined || user.username === 'system:anonymous') return
    const [authority = 0, mode] = chain
      .split('/')
      .map((part, index) => (index === 0 ? Number(part) : part)) as [number, string]
    this.served.set(authority, now)
    const node = user.username.startsWith(nodePrefix) ? user.username.slice(nodePrefix.length) : undefined
    const issuer = certificates?.[0] && this.#issuerOf(parseCertificateOnce(certificates[0]))
    if (issuer !== undefined) {
      this.clientUse.set(issuer, now)
      if (node !== undefined) note(this.nodeClientUse, node, issuer, now)
    }
    if (node !== undefined) {
      if (mode === 'bare') note(this.nodeHandshakes, node, authority, now)
      return
    }
    // A joiner trusts what a seed gave it, which is read back, and counts as a node from its first request on.
    if (user.username.startsWith(bootstrapPrefix)) return
    const stranger = this.#stranger(user, peer, program)
    stranger.lastSeen = now
    this.#peers.set(peer, stranger)
    // What stands for many never proves them all.
    if (mode === 'bare' && !stranger.id.endsWith(` ${elsewhere}`)) stranger.handshakes.set(authority, now)
  }

  /** A connection with the bare chain of a CA ended without a request: somebody at this address does not trust it. */
  refused(address: string, now: number): void {
    for (const stranger of this.strangers.values())
      if (stranger.address === address) stranger.lastFailure = now
  }

  /** Ids of those at the address that have not shown to trust the CA. */
  unproven(address: string, authority: number): Stranger[] {
    return [...this.strangers.values()].filter(stranger => {
      return stranger.address === address && !stranger.handshakes.has(authority)
    })
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

  forget(id: string): void {
    this.strangers.delete(id)
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

function note(map: Map<string, Map<number, number>>, name: string, authority: number, now: number): void {
  const known = map.get(name) ?? new Map<number, number>()
  known.set(authority, now)
  map.set(name, known)
}
