/** What a module's return value means to whoever runs the token. */
import { type ErrorCode, RollcallError } from '../../errors.ts'
import { CryptokiError, ckr } from './cryptoki.ts'

/** Sessions, logins and handles that went away: a new connection to the token may have them again. */
const lost: ReadonlySet<number> = new Set([
  ckr.generalError,
  ckr.deviceError,
  ckr.deviceRemoved,
  ckr.keyHandleInvalid,
  ckr.objectHandleInvalid,
  ckr.operationActive,
  ckr.sessionClosed,
  ckr.sessionHandleInvalid,
  ckr.tokenNotPresent,
  ckr.tokenNotRecognized,
  ckr.userNotLoggedIn,
  ckr.cryptokiNotInitialized,
])

/** Whether connecting anew may help. */
export function connectionIsLost(error: unknown): boolean {
  return error instanceof CryptokiError && lost.has(error.value)
}

const meanings: ReadonlyMap<number, readonly [ErrorCode, string]> = new Map<number, [ErrorCode, string]>([
  [ckr.tokenNotPresent, ['TOKEN_ABSENT', 'it is not in its slot; put it back']],
  [ckr.tokenNotRecognized, ['TOKEN_ABSENT', 'it is not initialized; check that it is the right one']],
  [ckr.deviceRemoved, ['TOKEN_ABSENT', 'it was removed; put it back']],
  [ckr.keyHandleInvalid, ['TOKEN_KEY_ABSENT', 'the key is gone from it']],
  [ckr.objectHandleInvalid, ['TOKEN_KEY_ABSENT', 'the key is gone from it']],
  [ckr.pinIncorrect, ['PIN_WRONG', 'it refused the PIN, which is not tried again; correct the PIN file']],
  [ckr.pinInvalid, ['PIN_WRONG', 'it refused the PIN, which is not tried again; correct the PIN file']],
  [ckr.pinLenRange, ['PIN_WRONG', 'the PIN is too short or too long for it; correct the PIN file']],
  [ckr.pinExpired, ['PIN_WRONG', 'its PIN has expired; set a new one']],
  [ckr.userPinNotInitialized, ['PIN_WRONG', 'it has no user PIN yet; its security officer must set one']],
  [ckr.pinLocked, ['PIN_LOCKED', 'it is locked; its security officer must set a new user PIN']],
  [ckr.mechanismInvalid, ['MECHANISM_MISSING', 'it cannot sign this way; use a key of another type']],
  [
    ckr.keyFunctionNotPermitted,
    ['TOKEN_FAILED', 'the key may not sign (CKA_SIGN is false); make another one'],
  ],
])

/** `where`: the token, as messages name it. What is no module's answer stays what it is. */
export function tokenError(error: unknown, where: string): unknown {
  if (!(error instanceof CryptokiError)) return error
  const [code, what] = meanings.get(error.value) ?? ['TOKEN_FAILED', 'the module failed; look at its own log']
  return new RollcallError(code, `${where}: ${what} (${error.message}).`, {}, { cause: error })
}
