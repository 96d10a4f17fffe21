/** What each API server of the control plane was tried with from here: nobody's word, but handshakes. Nothing is resumed. */
import type { Secret } from '../../keys/secret.ts'
import type { Connect, ConnectionConfig } from '../../kube/transport.ts'
import { type Clock, type Random, withTimeout } from '../../ports.ts'
import type { ServerFacts } from '../../rollover/observations.ts'
import { probeName } from '../../trust/node-orders.ts'
import { issuePair } from '../issue-pair.ts'
import type { CaStore } from '../rollover/ca-store.ts'

export interface TrialDoors {
  cas: CaStore
  connect: Connect
  clock: Clock
  random: Random
}

/** Milliseconds. */
const patience = 5000
/** kubeadm's certificates are for this name, whatever address they are asked at. */
const tlsServerName = 'kubernetes'

export class ApiServerTrials {
  readonly #doors: TrialDoors

  constructor(doors: TrialDoors) {
    this.#doors = doors
  }

  /** Who trusts only the one CA of the API servers, only the other, both. */
  async probes(server: string, from: number, to: number): Promise<NonNullable<ServerFacts['probes']>> {
    const pem = (...generations: number[]) =>
      generations.map(one => this.#doors.cas.authority('apiserver-serving', one)?.pem ?? '').join('')
    const verified = async (certificateAuthority: string) =>
      (await this.#status(server, { certificateAuthority, tlsServerName }, '/version')) !== undefined
    return {
      oldOnly: await verified(pem(from)),
      newOnly: await verified(pem(to)),
      both: await verified(pem(from, to)),
    }
  }

  /** Whether who trusts these CAs (PEM) verifies the bare chain of this one, which the server shows to who asks by its name. */
  async trusts(server: string, pem: string, authority: number): Promise<boolean> {
    const config = { certificateAuthority: pem, tlsServerName: probeName(authority) }
    return (await this.#status(server, config, '/version')) !== undefined
  }

  /** To a client certificate of this CA that stands for nobody: 200 says it was taken, 401 (L4) that it was refused. */
  async answers(
    server: string,
    authority: number,
    path = '/version',
  ): Promise<'accepts' | 'refuses' | 'nothing'> {
    const { cas, clock, random } = this.#doors
    const ca = cas.authority('client', authority)
    if (!ca) return 'nothing'
    const identity = { commonName: 'rollcall:canary', organizations: [], usage: 'client auth' } as const
    const pair = await issuePair(ca, { ...identity, lifetime: 3_600_000, now: clock.now() }, random)
    const clientCertificate: { certificate: string; key: Secret } = pair
    const status = await this.#status(server, { insecureSkipTlsVerify: true, clientCertificate }, path)
    return status === 200 || status === 403 ? 'accepts' : status === 401 ? 'refuses' : 'nothing'
  }

  async #status(
    server: string,
    config: Omit<ConnectionConfig, 'server'>,
    url: string,
  ): Promise<number | undefined> {
    const { connect, clock } = this.#doors
    const transport = connect({ server, ...config })
    try {
      const answer = transport.request({ method: 'GET', url, headers: {} })
      return (await withTimeout(clock, patience, answer, () => new Error('no answer in time'))).status
    } catch {
      return undefined // distrust and silence alike prove nothing
    } finally {
      transport.closeConnections()
    }
  }
}
