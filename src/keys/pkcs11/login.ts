import { RollcallError, systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import { Secret } from '../secret.ts'
import { type Cryptoki, CryptokiError, ckf, ckr, type Handle, type TokenInfo } from './cryptoki.ts'
import { pinAttempt } from './pin-attempt.ts'

/** PINs that tokens refused, by serial number: a login belongs to the module, so all who use it must know. */
const refusedPins = new WeakMap<Cryptoki, Map<string, Secret>>()

export interface LoginOptions {
  /** Path of the file that holds the PIN; absent: the token must not ask for one. */
  pinSource: string | undefined
  disk: Pick<Disk, 'read' | 'stat'>
}

/**
 * Logs in as user, unless somebody of this process already has. A wrong PIN is tried once, however often this is called,
 * until the file holds another. Throws RollcallError PIN_WRONG, PIN_LOCKED, PIN_LAST_TRY or KEY_URI_INVALID, and
 * CryptokiError.
 */
export async function login(
  cryptoki: Cryptoki,
  session: Handle,
  token: TokenInfo,
  { pinSource, disk }: LoginOptions,
): Promise<void> {
  if ((token.flags & ckf.loginRequired) === 0) return
  if (pinSource === undefined)
    throw new RollcallError(
      'KEY_URI_INVALID',
      `token ${JSON.stringify(token.label)} asks for a PIN; add ?pin-source=file:/path to the URI.`,
    )
  const pin = await readPin(pinSource, disk)
  const refused = refusedPins.get(cryptoki) ?? new Map<string, Secret>()
  refusedPins.set(cryptoki, refused)
  const attempt = pinAttempt(token, refused.get(token.serial)?.reveal() === pin.reveal())
  if (!attempt.try) throw new RollcallError(attempt.code, `${attempt.message} (${pinSource}).`)
  try {
    cryptoki.login(session, pin)
  } catch (error) {
    if (!(error instanceof CryptokiError)) throw error
    if (error.value === ckr.userAlreadyLoggedIn) return
    if (wrong.has(error.value)) refused.set(token.serial, pin)
    throw error
  }
}

const wrong: ReadonlySet<number> = new Set([ckr.pinIncorrect, ckr.pinInvalid, ckr.pinLenRange, ckr.pinLocked])

async function readPin(path: string, disk: LoginOptions['disk']): Promise<Secret> {
  try {
    const { kind, mode } = await disk.stat(path)
    // A symlink is how Kubernetes mounts a Secret; its target's mode is the mount's own business.
    if (kind === 'file' && (mode & 0o077) !== 0)
      throw new RollcallError('PIN_UNREADABLE', `the PIN file ${path} can be read by others; chmod 600 it.`)
    const text = new TextDecoder().decode(await disk.read(path)).replace(/\r?\n$/, '')
    if (text === '') throw new RollcallError('PIN_UNREADABLE', `the PIN file ${path} is empty.`)
    return new Secret(text)
  } catch (cause) {
    if (cause instanceof RollcallError) throw cause
    const why = systemCode(cause) ?? String(cause)
    throw new RollcallError('PIN_UNREADABLE', `the PIN file ${path} cannot be read (${why}).`, {}, { cause })
  }
}
