import { RollcallError } from '../../errors.ts'

/** What a TPM answered instead of success. */
export class TpmError extends RollcallError {
  /** TPM_RC, as it came. */
  readonly responseCode: number

  constructor(command: string, responseCode: number) {
    const shown = `0x${responseCode.toString(16).padStart(3, '0')}`
    const meaning = meaningOf(responseCode)
    super('TPM_REFUSED', `the TPM refused ${command} with ${shown}${meaning ? ` (${meaning})` : ''}.`, {
      command,
      responseCode: shown,
    })
    this.responseCode = responseCode
  }
}

/** TPM_RC_RETRY, TPM_RC_YIELDED and TPM_RC_TESTING: nothing was done, and the same command may be sent again. */
export function isPassing(responseCode: number): boolean {
  return responseCode === 0x922 || responseCode === 0x908 || responseCode === 0x90a
}

const formatZero: Readonly<Record<number, string>> = {
  256: 'it was not started up',
  2306: 'no room for another object; what is loaded must be flushed, or use /dev/tpmrm0',
  2307: 'no room for another session',
  2337: 'locked after too many wrong authorizations',
  323: 'it does not know this command',
}

/** By the low six bits of a format-one code: what is wrong with one of the handles, sessions or parameters. */
const formatOne: Readonly<Record<number, string>> = {
  4: 'a value is out of range',
  11: 'no such handle',
  14: 'the authorization is wrong',
  22: 'sizes do not match',
  29: 'the policy is not fulfilled',
  31: 'integrity: it was made for another object',
  34: 'the authorization is wrong: its hierarchy has a password',
}

function meaningOf(code: number): string | undefined {
  return code & 0x80 ? formatOne[code & 0x3f] : formatZero[code]
}
