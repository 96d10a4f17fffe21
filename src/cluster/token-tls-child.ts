import { type ChildProcess, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import type { StartTokenTls, TokenServingOrder, TokenTls, TokenTlsOrder } from '../agent/token-connect.ts'
import { type ErrorCode, errorKinds, RollcallError } from '../errors.ts'
import { parsePkcs11Uri } from '../keys/pkcs11/uri.ts'
import { Secret } from '../keys/secret.ts'
import type { Log } from '../ports.ts'

/**
 * Starts the hidden command `token-tls` for each connection's key and certificate. A PIN that one of them found wrong is
 * not given to another: nothing is started until the PIN file holds another one.
 */
export function tokenTlsStarter(log: Log): StartTokenTls {
  let refused: Secret | undefined
  return async order => {
    const pin = pinOf(order)
    if (pin !== undefined && pin.reveal() === refused?.reveal())
      throw new RollcallError(
        'PIN_WRONG',
        'the token refused this PIN; it is not tried again until the PIN file holds another one.',
      )
    try {
      return await start(order, log)
    } catch (error) {
      if (error instanceof RollcallError && error.code.startsWith('PIN_')) refused = pin
      throw error
    }
  }
}

function pinOf({ key }: Pick<TokenTlsOrder, 'key'>): Secret | undefined {
  const { pinSource } = parsePkcs11Uri(key)
  return pinSource === undefined ? undefined : new Secret(readFileSync(pinSource, 'utf8'))
}

async function start(order: TokenTlsOrder | TokenServingOrder, log: Log): Promise<TokenTls> {
  const directory = mkdtempSync(join(tmpdir(), 'rollcall-tls-'))
  const child = startChild(directory)
  let ended = false
  child.once('exit', () => {
    ended = true
    rmSync(directory, { recursive: true, force: true })
  })
  if (child.stderr)
    createInterface({ input: child.stderr }).on('line', line => {
      // The engine quotes the key's URI with its PIN.
      if (!line.includes('pin-value')) log.warn('TLS with the key in the token', { said: line })
    })
  child.stdin?.write(`${JSON.stringify(order)}\n`)
  const socketPath = await new Promise<string>((resolve, reject) => {
    const failed = (why: string) => reject(new RollcallError('TOKEN_FAILED', `TLS with the token: ${why}`))
    child.once('error', error => failed(error.message))
    child.once('exit', (code, signal) => failed(`its process ended with ${signal ?? code}`))
    if (!child.stdout) return failed('its process has no stdout')
    createInterface({ input: child.stdout }).on('line', line => {
      const told = JSON.parse(line) as {
        socketPath?: string
        code?: string
        error?: string
        problem?: string
      }
      if (told.socketPath !== undefined) resolve(told.socketPath)
      else if (told.code !== undefined && told.code in errorKinds)
        reject(new RollcallError(told.code as ErrorCode, told.error ?? told.code))
      else log.warn('TLS with the key in the token failed', { problem: told.problem })
    })
  })
  return {
    socketPath,
    get ended() {
      return ended
    },
    stop: () => void child.stdin?.end(),
  }
}

function startChild(directory: string): ChildProcess {
  const extension = import.meta.url.slice(import.meta.url.lastIndexOf('.'))
  const main = fileURLToPath(new URL(`../cli/main${extension}`, import.meta.url))
  const child = spawn(
    process.execPath,
    // Node warns of engines, which OpenSSL deprecates: docs/adr says why they are used.
    [
      '--disable-warning=ExperimentalWarning',
      '--no-deprecation',
      main,
      'token-tls',
      '--directory',
      directory,
    ],
    { stdio: ['pipe', 'pipe', 'pipe'] },
  )
  child.stdin?.on('error', () => {}) // it may end before it has read all; its end is told below
  return child
}
