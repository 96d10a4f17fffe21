/** API servers that are not ours, as handshakes tell of them: what each presents, to whom it is right, whom it lets in. */
import { connect, type DetailedPeerCertificate } from 'node:tls'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import type { Clock, Random } from '../../ports.ts'
import type { ChainMode, ServerFacts } from '../../rollover/observations.ts'
import { probeName } from '../../trust/node-orders.ts'
import { type Certificate, certificateSignatureIsValid, parseCertificate } from '../../x509/certificate.ts'
import { issuePair } from '../issue-pair.ts'
import type { CaStore } from '../rollover/ca-store.ts'
import { dial } from '../rollover/dial.ts'
import { isVerified, type Place, statusFor } from '../rollover/handshakes.ts'
import { verifiesLeafOf } from './loopback-handshake.ts'
import type { ApiServerEntry } from './rollover-file.ts'

export interface ApiServerDoors {
  cas: CaStore
  role: TrustRole
  clock: Clock
  random: Random
}

/** Milliseconds that a result is used: one that is hoped for is asked for again soon. */
const fresh = 10_000
const patience = 5000

export interface Presented {
  authority: number
  mode: ChainMode
  leaf: Certificate
}

export class ApiServerTrials {
  readonly #server: ApiServerEntry
  readonly #doors: ApiServerDoors
  readonly #results = new Map<string, { at: number; result: boolean }>()
  readonly #whys = new Map<string, string>()
  #presents: { shown: string; since: number } | undefined

  constructor(server: ApiServerEntry, doors: ApiServerDoors) {
    this.#server = server
    this.#doors = doors
  }

  /** What it was known for is to be tried again: something was done to it. */
  forget(): void {
    this.#results.clear()
  }

  /** Which chain it shows now; undefined: none of ours, or nobody answers. */
  async presented(): Promise<(Presented & { since: number }) | undefined> {
    const { cas, role, clock } = this.#doors
    const [leaf, ...above] = await chainServed(this.#server, clock)
    const authority = leaf && issuerOf(leaf, role, cas)
    if (!leaf || authority === undefined) return undefined
    const crossed = above.some(({ raw, basicConstraints }) => {
      return basicConstraints?.ca === true && cas.generationOf(role, raw) === undefined
    })
    const mode: ChainMode = crossed ? 'bridged' : 'bare'
    const shown = `${authority}/${mode} ${Buffer.from(leaf.raw).toString('base64')}`
    if (this.#presents?.shown !== shown) {
      this.#presents = { shown, since: clock.now() }
      this.forget()
    }
    return { authority, mode, leaf, since: this.#presents.since }
  }

  /** Whether who trusts these CAs of the role alone verifies what it shows. */
  async verifiedBy(...authorities: number[]): Promise<boolean> {
    const { cas, role, clock } = this.#doors
    const pem = authorities.map(one => cas.authority(role, one)?.pem ?? '').join('')
    return this.#tried(`verified by ${authorities.join('+')}`, () => isVerified(this.#server, pem, clock))
  }

  /** Whether it shows the bare chain of this CA to who asks for it by the name of probes. */
  showsByName(authority: number): Promise<boolean> {
    return this.#tried(`shows ${authority} by name`, async () => {
      const { cas, role, clock } = this.#doors
      const pem = cas.authority(role, authority)?.pem
      return pem !== undefined && isVerified(this.#server, pem, clock, probeName(authority))
    })
  }

  async probes(from: number, to: number): Promise<NonNullable<ServerFacts['probes']>> {
    return {
      oldOnly: await this.verifiedBy(from),
      newOnly: await this.verifiedBy(to),
      both: await this.verifiedBy(from, to),
    }
  }

  /** Whether a client certificate of this CA, for nobody in particular, is let in. */
  accepts(authority: number): Promise<boolean> {
    return this.#tried(`accepts ${authority}`, async () => {
      const status = await this.#present(authority)
      return status === 200 || status === 403
    })
  }

  /** L4: whether it is refused. No answer is no refusal. */
  refuses(authority: number): Promise<boolean> {
    return this.#tried(`refuses ${authority}`, async () => (await this.#present(authority)) === 401)
  }

  /** Whether it answers, and says that it is ready or who may ask that. */
  isHealthy(): Promise<boolean> {
    return this.#tried('healthy', async () => {
      const { clock } = this.#doors
      const status = await statusFor(this.#server, '/readyz', undefined, clock)
      return status !== undefined && status < 500
    })
  }

  /** Why who trusts these CAs (PEM) and no other is not let through to it; undefined: he is. */
  async dialled(pem: string): Promise<string | undefined> {
    const { clock } = this.#doors
    const key = `dialled by ${pem}`
    await this.#tried(key, async () => {
      const why = await dial(this.#server, pem, clock)
      if (why === undefined) this.#whys.delete(key)
      else this.#whys.set(key, `${this.#server.name}: ${why}`)
      return why === undefined
    })
    return this.#whys.get(key)
  }

  /** Whether a leaf of this CA for API servers is verified by who trusts its CA: its key signs what it should. */
  canary(authority: number): Promise<boolean> {
    const pem = this.#doors.cas.authority(this.#doors.role, authority)?.pem ?? ''
    return this.trustedBy(pem, authority)
  }

  /** Whether who trusts these CAs (PEM) verifies a leaf of this one, in a handshake within this process. */
  trustedBy(pem: string, authority: number): Promise<boolean> {
    return this.#tried(`${authority} trusted by ${pem}`, async () => {
      const { cas, role } = this.#doors
      const ca = cas.authority(role, authority)
      return ca !== undefined && verifiesLeafOf(ca, pem, this.#doors)
    })
  }

  /** What `trial` came to lately. */
  async #tried(key: string, trial: () => Promise<boolean>): Promise<boolean> {
    const { clock } = this.#doors
    const known = this.#results.get(key)
    if (known && clock.monotonic() - known.at < (known.result ? fresh : fresh / 20)) return known.result
    const result = await trial()
    this.#results.set(key, { at: clock.monotonic(), result })
    return result
  }

  async #present(authority: number): Promise<number | undefined> {
    const { cas, clock, random } = this.#doors
    const ca = cas.authority('client', authority)
    if (!ca) return undefined
    const identity = { commonName: 'rollcall:canary', organizations: [], usage: 'client auth' } as const
    const pair = await issuePair(ca, { ...identity, lifetime: 3_600_000, now: clock.now() }, random)
    return statusFor(this.#server, '/version', pair, clock)
  }
}

/** By signature: CAs of other tools have one name for all generations (kubeadm: CN=kubernetes). */
function issuerOf(leaf: Certificate, role: TrustRole, cas: CaStore): number | undefined {
  return cas.generations(role).findLast(generation => {
    const ca = cas.authority(role, generation)?.certificate
    return ca !== undefined && certificateSignatureIsValid(leaf, ca)
  })
}

/** The certificates that are served there, leaf first, unverified; none: nobody answers. */
function chainServed({ host, port }: Place, clock: Clock): Promise<Certificate[]> {
  return new Promise(resolve => {
    const socket = connect({ host, port, rejectUnauthorized: false }, () => {
      end(chainOf(socket.getPeerCertificate(true)))
    })
    const timer = clock.after(patience, () => end([]))
    socket.on('error', () => end([]))
    function end(chain: Certificate[]) {
      timer.cancel()
      socket.destroy()
      resolve(chain)
    }
  })
}

function chainOf(leaf: DetailedPeerCertificate): Certificate[] {
  const chain: Certificate[] = []
  const seen = new Set<DetailedPeerCertificate>()
  for (
    let one: DetailedPeerCertificate | undefined = leaf;
    one?.raw && !seen.has(one);
    one = one.issuerCertificate
  ) {
    seen.add(one)
    try {
      chain.push(parseCertificate(new Uint8Array(one.raw)))
    } catch {
      break // what strict DER does not read is no chain of ours
    }
  }
  return chain
}
