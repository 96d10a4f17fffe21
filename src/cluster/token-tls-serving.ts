/** The server's end of TLS with a key in a token: see src/agent/token-handshakes.ts. */
import { connect as connectSocket, createServer, type Server, type Socket } from 'node:net'
import { dirname, join as joinPath } from 'node:path'
import { connect as connectTls, type SecureContext, TLSSocket } from 'node:tls'
import { introduce, introduced, join } from '../agent/handed-connection.ts'
import { presentedChain } from '../agent/presented-chain.ts'
import { plainSocketName } from '../agent/token-handshakes.ts'

/** Milliseconds that a caller has for its handshake. */
const handshakePatience = 10_000

/**
 * Takes connections at the socket and hands them back in plain at the one beside it. `onDead`: the token does not sign any
 * more, which the engine never gets over.
 */
export function serveHandshakes(
  secureContext: SecureContext,
  socketPath: string,
  onProblem: (message: string) => void,
  onDead: () => void,
): Promise<Server> {
  let looking = false
  const plainPath = joinPath(dirname(socketPath), plainSocketName)
  const server = createServer({ pauseOnConnect: true }, raw => {
    handshake(raw, secureContext, plainPath).catch(error => {
      raw.destroy()
      onProblem(`a caller: ${error instanceof Error ? error.message : String(error)}`)
      // A caller may break a handshake as well as a token: only one of our own tells.
      if (looking) return
      looking = true
      ownHandshake(socketPath)
        .catch(onDead)
        .finally(() => {
          looking = false
        })
    })
  })
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(socketPath, () => resolve(server))
  })
}

async function handshake(raw: Socket, secureContext: SecureContext, plainPath: string): Promise<void> {
  const { remoteAddress, own } = (await introduced(raw)) as { remoteAddress: string; own?: true }
  const secure = new TLSSocket(raw, {
    isServer: true,
    secureContext,
    // Who may do what is decided per request, with reasons; not here by hanging up.
    requestCert: true,
    rejectUnauthorized: false,
  })
  await new Promise<void>((resolve, reject) => {
    raw.setTimeout(handshakePatience, () => reject(new Error('it did not finish its handshake')))
    secure.on('error', reject)
    secure.once('close', () => reject(new Error('it left')))
    secure.once('secure', resolve)
  })
  raw.setTimeout(0)
  if (own) return void secure.end()
  const plain = connectSocket(plainPath)
  const certificates = presentedChain(secure.getPeerCertificate(true))
  await introduce(plain, {
    remoteAddress,
    certificates: certificates.map(bytes => Buffer.from(bytes).toString('base64')),
  })
  join(secure, plain)
}

/** Rejects when the key does not sign. */
async function ownHandshake(socketPath: string): Promise<void> {
  const raw = connectSocket(socketPath)
  try {
    await introduce(raw, { remoteAddress: '', own: true })
    await new Promise<void>((resolve, reject) => {
      const secure = connectTls({ socket: raw, rejectUnauthorized: false })
      secure.once('secureConnect', resolve)
      secure.once('error', reject)
      secure.once('close', () => reject(new Error('it was ended')))
    })
  } finally {
    raw.destroy()
  }
}
