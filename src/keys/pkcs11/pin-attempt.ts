/** Whether a PIN may be tried: a token that locked itself is worse than a signer that stands still. */
import { ckf, type TokenInfo } from './cryptoki.ts'

export type PinAttempt =
  | { try: true }
  | { try: false; code: 'PIN_WRONG' | 'PIN_LOCKED' | 'PIN_LAST_TRY'; message: string }

/**
 * `refusedBefore`: the token said no to this very PIN. That one is never tried again, and none at all where the next wrong
 * one would lock the token: a human then logs in once by hand, which sets the token's count back.
 */
export function pinAttempt({ flags, label }: TokenInfo, refusedBefore: boolean): PinAttempt {
  const token = `token ${JSON.stringify(label)}`
  if ((flags & ckf.userPinLocked) !== 0)
    return {
      try: false,
      code: 'PIN_LOCKED',
      message: `${token} is locked after too many wrong PINs; its security officer must set a new user PIN`,
    }
  if (refusedBefore)
    return {
      try: false,
      code: 'PIN_WRONG',
      message: `${token} refused this PIN; it is not tried again until the PIN file holds another one`,
    }
  if ((flags & ckf.userPinFinalTry) !== 0)
    return {
      try: false,
      code: 'PIN_LAST_TRY',
      message: `${token} would lock after one more wrong PIN, so none is tried; log in to it once by hand with the right one`,
    }
  return { try: true }
}
