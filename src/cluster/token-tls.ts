/**
 * TLS with a key in a PKCS#11 token, in a process of its own. OpenSSL's engine works on the event loop and keeps what it
 * opened, so neither a slow token nor one that was pulled may be the agent's business. The token sits behind p11-kit's
 * server in a third process: its module may bring a libcrypto that Node's own would break.
 */
import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:crypto'
import { globSync, readFileSync } from 'node:fs'
import { createServer, type Server, type Socket } from 'node:net'
import { join } from 'node:path'
import { connect, createSecureContext, type SecureContext } from 'node:tls'
import type { TokenServingOrder, TokenTlsOrder } from '../agent/token-connect.ts'
import { type ErrorCode, RollcallError, systemCode } from '../errors.ts'
import { formatPkcs11Uri, type Pkcs11Uri, parsePkcs11Uri } from '../keys/pkcs11/uri.ts'
import { serveHandshakes } from './token-tls-serving.ts'

export interface TokenTlsProcess {
  stop(): void
}

/** `directory`: of ours alone; the sockets go there. Rejects with PKCS11_UNAVAILABLE, PIN_WRONG or TOKEN_FAILED. */
export async function serveTokenTls(
  order: TokenTlsOrder | TokenServingOrder,
  directory: string,
  onProblem: (message: string) => void,
): Promise<TokenTlsProcess & { socketPath: string }> {
  const uri = parsePkcs11Uri(order.key)
  const engines = found('/usr/lib/*/engines-3/pkcs11.so', 'libengine-pkcs11-openssl')
  const client = found('/usr/lib/*/pkcs11/p11-kit-client.so', 'p11-kit-modules')
  const tokenSocket = join(directory, 'token.sock')
  const tokenServer = await startTokenServer(uri.modulePath ?? '', tokenSocket)
  try {
    // Read when the engine is loaded, which is when the first key is asked for.
    process.env.OPENSSL_ENGINES = join(engines, '..')
    process.env.PKCS11_MODULE_PATH = client
    process.env.P11_KIT_SERVER_ADDRESS = `unix:path=${tokenSocket}`
    const context = contextOf(order, uri)
    const socketPath = join(directory, 'tls.sock')
    const server =
      'serve' in order
        ? await serveHandshakes(context, socketPath, onProblem, () => process.exit(1))
        : await listen(socketPath, socket => bridge(socket, order, context, onProblem))
    const stop = () => {
      server.close()
      tokenServer.kill()
    }
    return { socketPath, stop }
  } catch (error) {
    tokenServer.kill()
    throw error
  }
}

function found(pattern: string, debianPackage: string): string {
  const [path] = globSync(pattern)
  if (path !== undefined) return path
  throw new RollcallError(
    'PKCS11_UNAVAILABLE',
    `TLS with a key in a token needs ${pattern}; install ${debianPackage}.`,
  )
}

/** It ends with this process, however that ends: p11-kit's server would stay for ever. */
async function startTokenServer(modulePath: string, socket: string): Promise<ChildProcess> {
  const child = spawn(
    'setpriv',
    ['--pdeathsig', 'TERM', 'p11-kit', 'server', '-f', '-n', socket, '--provider', modulePath, 'pkcs11:'],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )
  await new Promise<void>((resolve, reject) => {
    const unusable = (why: string) =>
      reject(
        new RollcallError('PKCS11_UNAVAILABLE', `p11-kit server does not start (${why}); install p11-kit.`),
      )
    child.once('error', error => unusable(error.message))
    child.once('exit', code => unusable(`exit code ${code}`))
    child.stdout?.once('data', () => resolve())
  })
  return child
}

/** As the agent's own server (src/agent/serve-https.ts): a resumed session would show an old identity. */
const serving = {
  minVersion: 'TLSv1.2',
  secureOptions: constants.SSL_OP_NO_TICKET,
  sessionIdContext: 'rollcall',
} as const

function contextOf(order: TokenTlsOrder | TokenServingOrder, uri: Pkcs11Uri): SecureContext {
  try {
    return createSecureContext({
      ...('server' in order &&
        order.certificateAuthority !== undefined && { ca: order.certificateAuthority }),
      ...('serve' in order && serving),
      cert: order.certificate,
      privateKeyEngine: 'pkcs11',
      privateKeyIdentifier: engineIdentifier(uri),
    })
  } catch (error) {
    throw engineError(error)
  }
}

/**
 * The key as the engine wants it. Of a PIN file it would take the newline at the end for a part of the PIN, so it is given
 * the PIN itself, in memory; what the engine writes to stderr may quote it, and the parent keeps it back.
 */
function engineIdentifier({ modulePath: _, pinSource, ...key }: Pkcs11Uri): string {
  const path = `${formatPkcs11Uri(key)};type=private`
  if (pinSource === undefined) return path
  const pin = readFileSync(pinSource, 'utf8').replace(/\r?\n$/, '')
  return `${path}?pin-value=${Array.from(Buffer.from(pin), byte => `%${byte.toString(16).padStart(2, '0')}`).join('')}`
}

/** The engine's errors are those of PKCS#11, named by OpenSSL. */
const engineCodes: Readonly<Record<string, ErrorCode>> = {
  ERR_OSSL_PIN_INCORRECT: 'PIN_WRONG',
  ERR_OSSL_PIN_LOCKED: 'PIN_LOCKED',
}

function engineError(error: unknown): RollcallError {
  const code = systemCode(error) ?? String(error)
  return new RollcallError(
    engineCodes[code] ?? 'TOKEN_FAILED',
    `OpenSSL cannot use the key in the token (${code}).`,
    {},
    { cause: error },
  )
}

function listen(path: string, onConnection: (socket: Socket) => void): Promise<Server> {
  const server = createServer(onConnection)
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => resolve(server))
  })
}

/** One connection: what comes in plain goes on over TLS. Either end ends the other. */
function bridge(
  plain: Socket,
  { server, tlsServerName, insecureSkipTlsVerify }: TokenTlsOrder,
  secureContext: SecureContext,
  onProblem: (message: string) => void,
): void {
  const { hostname, port } = new URL(server)
  const host = hostname.replace(/^\[|\]$/g, '')
  const secure = connect({
    host,
    port: Number(port || 443),
    // An address is no name that TLS could send.
    servername: tlsServerName ?? (/[a-z]/i.test(host) && !host.includes(':') ? host : ''),
    secureContext,
    rejectUnauthorized: !insecureSkipTlsVerify,
    ALPNProtocols: ['http/1.1'],
  })
  secure.once('error', error => {
    onProblem(`${server}: ${error.message}`)
    plain.destroy()
  })
  plain.once('error', () => secure.destroy())
  plain.once('close', () => secure.destroy())
  secure.once('close', () => plain.destroy())
  plain.pipe(secure).pipe(plain)
}
