/**
 * Handshakes of the node's HTTPS server with a key in a token. TLS is made in a process of its own (token-connect.ts says
 * why), one for each certificate: a connection goes there as it comes, and comes back in plain with what the caller showed.
 */
import { connect, createServer, type Server, type Socket } from 'node:net'
import { posix } from 'node:path'
import { RollcallError } from '../errors.ts'
import { formatPkcs11Uri, type Pkcs11Uri } from '../keys/pkcs11/uri.ts'
import { readTokenKey } from '../keys/token-key.ts'
import type { Peer } from '../kube/transport.ts'
import type { Clock, Log } from '../ports.ts'
import { introduce, introduced, join } from './handed-connection.ts'
import type { ServingPair } from './serving.ts'
import type { StartTokenTls, TokenTls } from './token-connect.ts'
import type { TokenKeys } from './token-keys.ts'

/** Beside the socket that a process of `StartTokenTls` takes connections on, where it hands them back. */
export const plainSocketName = 'plain.sock'

export interface TokenHandshakesOptions {
  clock: Clock
  log: Log
  uri: Pkcs11Uri
  tokenKeys: TokenKeys
  startTls: StartTokenTls
  /** The key of this certificate (PEM) is not in the token any more. */
  onKeyGone(certificate: string): void
}

export interface Handshakes {
  /** Whether the pair's key is in the token. */
  isFor(pair: ServingPair): boolean
  /**
   * Makes the handshake on a connection from which nothing was read; `accept` is given the plain connection. Rejects when
   * that cannot be begun, and the connection is then untouched.
   */
  take(socket: Socket, pair: ServingPair, accept: (plain: Socket, peer: Peer) => void): Promise<void>
  close(): void
}

/** Milliseconds until a token that could not be used is tried again: strangers connect as often as they like. */
const retryAfter = 5000

interface Running {
  pair: ServingPair
  tls: Promise<{ process: TokenTls; back: Server }>
  /** Connections that go through it. */
  open: number
  accept: ((plain: Socket, peer: Peer) => void) | undefined
}

export function tokenHandshakes(options: TokenHandshakesOptions): Handshakes {
  const { clock, log, uri, tokenKeys, startTls, onKeyGone } = options
  const all = new Set<Running>()
  let current: Running | undefined
  let failed: { pair: ServingPair; at: number; error: unknown } | undefined

  async function start(running: Running): Promise<{ process: TokenTls; back: Server }> {
    const key = readTokenKey(running.pair.key)
    if (!key || !(await tokenKeys.holds(key))) {
      onKeyGone(running.pair.chain)
      throw new RollcallError('TOKEN_KEY_ABSENT', 'the key of the serving certificate is not in the token.')
    }
    const certificate = running.pair.chain
    const process = await startTls({ serve: true, certificate, key: formatPkcs11Uri({ ...uri, id: key.id }) })
    const back = createServer({ pauseOnConnect: true }, plain => {
      introduced(plain).then(
        facts => running.accept?.(plain, peerOf(facts)),
        () => plain.destroy(),
      )
    })
    await new Promise<void>((resolve, reject) => {
      back.once('error', reject)
      back.listen(posix.join(posix.dirname(process.socketPath), plainSocketName), resolve)
    })
    return { process, back }
  }

  /** The process for the pair; the one before ends with its last connection (H-8). */
  async function runningFor(pair: ServingPair): Promise<Running> {
    const ended = await current?.tls.then(
      ({ process }) => process.ended,
      () => true,
    )
    if (current && current.pair === pair && !ended) return current
    if (failed?.pair === pair && clock.monotonic() - failed.at < retryAfter) throw failed.error
    const last = current
    const made: Running = { pair, open: 0, accept: undefined, tls: Promise.reject(new Error('not started')) }
    made.tls.catch(() => {})
    made.tls = start(made)
    current = made
    all.add(made)
    if (last?.open === 0) stop(last)
    try {
      await made.tls
      failed = undefined
      return made
    } catch (error) {
      if (current === made) current = undefined
      all.delete(made)
      failed = { pair, at: clock.monotonic(), error }
      log.warn('the serving certificate cannot be used: its key in the token cannot', { why: String(error) })
      throw error
    }
  }

  function stop(running: Running): void {
    all.delete(running)
    running.tls.then(
      ({ process, back }) => {
        back.close()
        process.stop()
      },
      () => {}, // whoever asked was told
    )
  }

  return {
    isFor: pair => readTokenKey(pair.key) !== undefined,
    async take(socket, pair, accept) {
      // A caller that leaves meanwhile must not be an error of ours.
      socket.on('error', () => socket.destroy())
      const running = await runningFor(pair)
      running.accept = accept
      const { process } = await running.tls
      const raw = connect(process.socketPath)
      await introduce(raw, { remoteAddress: socket.remoteAddress ?? '' })
      if (socket.destroyed) return void raw.destroy()
      running.open++
      socket.once('close', () => {
        running.open--
        if (running.open === 0 && running !== current) stop(running)
      })
      join(socket, raw)
    },
    close() {
      for (const running of all) stop(running)
    },
  }
}

/** Of a process of our own, whose socket lies in a folder of ours alone. */
function peerOf(facts: unknown): Peer {
  const { remoteAddress, certificates } = facts as { remoteAddress: string; certificates: string[] }
  const chain = certificates.map(text => new Uint8Array(Buffer.from(text, 'base64')))
  return { remoteAddress, ...(chain.length > 0 && { certificates: chain }) }
}
