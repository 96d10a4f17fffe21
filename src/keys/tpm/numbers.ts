/** Numbers of the TPM 2.0 Library Specification (part 2) that the client uses. */

export const commands = {
  activateCredential: 0x147,
  certify: 0x148,
  certifyCreation: 0x14a,
  create: 0x153,
  createPrimary: 0x131,
  flushContext: 0x165,
  getCapability: 0x17a,
  getRandom: 0x17b,
  load: 0x157,
  policySecret: 0x151,
  quote: 0x158,
  readPublic: 0x173,
  sign: 0x15d,
  startAuthSession: 0x176,
} as const

export const tags = { noSessions: 0x8001, sessions: 0x8002, hashCheck: 0x8024 } as const

export const hierarchies = {
  owner: 0x4000_0001,
  none: 0x4000_0007,
  endorsement: 0x4000_000b,
} as const

/** The session that is no session: an authorization by an (empty) password. */
export const passwordSession = 0x4000_0009

export const algorithms = {
  rsa: 0x0001,
  aes: 0x0006,
  sha256: 0x000b,
  none: 0x0010,
  rsassa: 0x0014,
  ecdsa: 0x0018,
  ecc: 0x0023,
  cfb: 0x0043,
} as const

export const curveP256 = 0x0003

export const attributes = {
  fixedTpm: 1 << 1,
  fixedParent: 1 << 4,
  sensitiveDataOrigin: 1 << 5,
  userWithAuth: 1 << 6,
  adminWithPolicy: 1 << 7,
  noDictionaryAttacks: 1 << 10,
  restricted: 1 << 16,
  decrypt: 1 << 17,
  sign: 1 << 18,
} as const

/** Every structure that a TPM made itself to be signed begins with it: "\xffTCG". */
export const generatedValue = 0xff54_4347
export const attestTypes = { certify: 0x8017, quote: 0x8018, creation: 0x801a } as const
