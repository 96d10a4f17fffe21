/**
 * The part of PKCS#11 that Rollcall uses, as a door: src/host loads a real module behind it, so nothing in this room needs
 * native code. Names and numbers are those of the standard (PKCS#11 2.40 and 3.0).
 */
import type { Secret } from '../secret.ts'

/** An opaque handle of the module. */
export type Handle = Uint8Array

export interface TokenInfo {
  /** Without the blanks and NULs that pad it. */
  label: string
  serial: string
  manufacturer: string
  model: string
  /** CKF_… bits. */
  flags: number
}

export interface Attribute {
  type: number
  value: boolean | number | string | Uint8Array
}

/** A loaded and initialized module. Every member throws CryptokiError. */
export interface Cryptoki {
  /** Slots that hold a token. */
  slots(): Handle[]
  tokenInfo(slot: Handle): TokenInfo
  mechanisms(slot: Handle): number[]
  openSession(slot: Handle, readWrite: boolean): Handle
  closeSession(session: Handle): void
  /** C_Login as user. */
  login(session: Handle, pin: Secret): void
  findObjects(session: Handle, template: readonly Attribute[], most: number): Handle[]
  /** The attributes' values in the order of `types`; undefined: the object does not have it or does not show it. */
  attributes(session: Handle, object: Handle, types: readonly number[]): (Uint8Array | undefined)[]
  /** Off the event loop. A session signs one thing at a time. `mostBytes`: of the signature. */
  sign(
    session: Handle,
    mechanism: number,
    key: Handle,
    data: Uint8Array,
    mostBytes: number,
  ): Promise<Uint8Array>
  /** Off the event loop. */
  generateKeyPair(
    session: Handle,
    mechanism: number,
    publicTemplate: readonly Attribute[],
    privateTemplate: readonly Attribute[],
  ): Promise<{ publicKey: Handle; privateKey: Handle }>
  setAttributes(session: Handle, object: Handle, attributes: readonly Attribute[]): void
  destroyObject(session: Handle, object: Handle): void
  /** Goes up by one whenever the module was initialized again; handles of an earlier generation are void. */
  readonly generation: number
  /** C_Finalize and C_Initialize, when nothing is under way: many modules see a token that came back only so. */
  reload(): Promise<void>
}

/** Loads the module at the path; the same path gives the same one. Throws RollcallError PKCS11_UNAVAILABLE. */
export type LoadCryptoki = (modulePath: string) => Promise<Cryptoki>

/** What a module answered instead of CKR_OK. */
export class CryptokiError extends Error {
  /** CKR_…, as a number. */
  readonly value: number

  constructor(value: number, name: string, call: string) {
    super(`${call}: ${name}`)
    this.name = 'CryptokiError'
    this.value = value
  }
}

/** CK_… constants, by the names of the standard without the prefix. */
export const ckf = {
  userPinCountLow: 0x10000,
  userPinFinalTry: 0x20000,
  userPinLocked: 0x40000,
  loginRequired: 0x4,
  protectedAuthenticationPath: 0x100,
} as const
export const cko = { certificate: 1, publicKey: 2, privateKey: 3 } as const
export const ckk = { rsa: 0, ec: 3, ecEdwards: 0x40 } as const
export const cka = {
  class: 0x0,
  token: 0x1,
  private: 0x2,
  label: 0x3,
  keyType: 0x100,
  id: 0x102,
  sensitive: 0x103,
  sign: 0x108,
  verify: 0x10a,
  modulus: 0x120,
  modulusBits: 0x121,
  publicExponent: 0x122,
  extractable: 0x162,
  local: 0x163,
  neverExtractable: 0x164,
  ecParams: 0x180,
  ecPoint: 0x181,
} as const
export const ckm = {
  rsaKeyPairGen: 0x0,
  rsaPkcs: 0x1,
  ecKeyPairGen: 0x1040,
  ecdsa: 0x1041,
  ecEdwardsKeyPairGen: 0x1055,
  eddsa: 0x1057,
} as const
export const ckr = {
  generalError: 0x5,
  functionFailed: 0x6,
  argumentsBad: 0x7,
  deviceError: 0x30,
  deviceMemory: 0x31,
  deviceRemoved: 0x32,
  keyHandleInvalid: 0x60,
  keyFunctionNotPermitted: 0x68,
  mechanismInvalid: 0x70,
  objectHandleInvalid: 0x82,
  operationActive: 0x90,
  pinIncorrect: 0xa0,
  pinInvalid: 0xa1,
  pinLenRange: 0xa2,
  pinExpired: 0xa3,
  pinLocked: 0xa4,
  sessionClosed: 0xb0,
  sessionCount: 0xb1,
  sessionHandleInvalid: 0xb3,
  tokenNotPresent: 0xe0,
  tokenNotRecognized: 0xe1,
  userAlreadyLoggedIn: 0x100,
  userNotLoggedIn: 0x101,
  userPinNotInitialized: 0x102,
  cryptokiNotInitialized: 0x190,
} as const
