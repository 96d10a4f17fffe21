/** The controller's own way to the API, made anew when its kubeconfig, CA file or certificate changes (P8: itself first). */
import { isDeepStrictEqual } from 'node:util'
import { Secret } from '../../keys/secret.ts'
import type { ApiRequest, Connect, ConnectionConfig, Transport } from '../../kube/transport.ts'
import type { Clock, Log } from '../../ports.ts'

export interface OwnConnectionOptions {
  /** As the files say now. */
  read(): Promise<ConnectionConfig>
  connect: Connect
  clock: Clock
  log: Log
}

export interface OwnConnection extends Transport {
  /** PEM of the CAs that the connection in use trusts. */
  trusts(): string
  /** By how many milliseconds the API's clock is ahead of ours, as its last answer said; 0 where it says no time. */
  clockSkew(): number
  /** PEM of the client certificate that the connection in use presents; undefined: none. */
  presents(): string | undefined
}

/** Milliseconds between two looks at the files; a look takes place when something is asked. */
const lookEvery = 1000

/** Rejects where the files cannot be used at the start; later the last good ones stay in use. */
export async function openOwnConnection({
  read,
  connect,
  clock,
  log,
}: OwnConnectionOptions): Promise<OwnConnection> {
  let config = await read()
  let inUse: InUse = { transport: connect(config), asked: 0 }
  let skew = 0
  let looked = clock.monotonic()
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
    looked = clock.monotonic()
    const next = await read().catch(error => {
      // Half written, or gone for a moment.
      log.warn('the kubeconfig cannot be read; the last good one stays in use', { error: String(error) })
      return config
    })
    if (isDeepStrictEqual(comparable(next), comparable(config))) return
    const former = inUse
    config = next
    inUse = { transport: connect(next), asked: 0 }
    former.replaced = true
    closeWhenDone(former)
  }

  return {
    async request(request: ApiRequest) {
      if (clock.monotonic() - looked >= lookEvery) looking ??= look().finally(() => (looking = undefined))
      await looking
      const used = inUse
      used.asked += 1
      try {
        const answer = await used.transport.request(request)
        skew = skewOf(answer.headers.date, clock.now()) ?? skew
        return answer
      } finally {
        used.asked -= 1
        closeWhenDone(used)
      }
    },
    closeConnections: () => inUse.transport.closeConnections(),
    clockSkew: () => skew,
    trusts: () => config.certificateAuthority ?? '',
    presents: () => config.clientCertificate?.certificate,
  }
}

/** Of a Date header, which tells whole seconds. */
function skewOf(date: string | undefined, now: number): number | undefined {
  const at = Date.parse(date ?? '')
  return Number.isNaN(at) ? undefined : at + 500 - now
}

interface InUse {
  transport: Transport
  /** Requests without an answer. */
  asked: number
  replaced?: true
}

/** What was asked is answered first; then watches end, and begin again with what is trusted now. */
function closeWhenDone({ transport, asked, replaced }: InUse): void {
  if (replaced && asked === 0) transport.closeConnections()
}

/** What a connection is made of; a token that is asked for anew each time is none of it. */
function comparable(config: ConnectionConfig): unknown {
  return Object.entries(config).flatMap(([name, value]) => {
    if (typeof value === 'function') return []
    if (value instanceof Secret) return [[name, value.reveal()]]
    if (name === 'clientCertificate' && config.clientCertificate)
      return [[name, config.clientCertificate.certificate, config.clientCertificate.key.reveal()]]
    return [[name, value]]
  })
}
