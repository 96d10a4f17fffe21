/**
 * A client of TPM 2.0 devices: keys that are made in it and never leave it, and what it says about them. Objects are
 * handles that the TPM has little room for (three, without a resource manager): whoever loads one flushes it, `using` does.
 */
import type { Clock } from '../../ports.ts'
import type { SignedAttestation } from './attest.ts'
import type { TpmChannel } from './channel.ts'
import type { Credential } from './make-credential.ts'
import { algorithms, hierarchies, tags } from './numbers.ts'
import { commandSender, type SendCommand } from './session.ts'
import { empty, sized, type TpmReader, uint8, uint16, uint32 } from './wire.ts'

export interface LoadedKey {
  handle: number
  /** TPMT_PUBLIC. */
  publicArea: Uint8Array
}

/** A key that was made now, and what proves where. */
export interface MadeKey extends LoadedKey {
  creationHash: Uint8Array
  /** TPMT_TK_CREATION. */
  creationTicket: Uint8Array
}

/** A key as it is kept outside, which only this TPM can read. */
export interface WrappedKey {
  /** TPM2B_PRIVATE's content. */
  privatePart: Uint8Array
  /** TPMT_PUBLIC. */
  publicArea: Uint8Array
}

export type Hierarchy = 'owner' | 'endorsement'

export interface Tpm {
  /** At most 32 bytes at a time. */
  getRandom(length: number): Promise<Uint8Array>
  /** The key that this template (TPMT_PUBLIC) stands for in the hierarchy: the same each time. */
  createPrimary(hierarchy: Hierarchy, template: Uint8Array): Promise<MadeKey>
  create(parent: LoadedKey, template: Uint8Array): Promise<WrappedKey>
  load(parent: LoadedKey, key: WrappedKey): Promise<LoadedKey>
  /** The key behind a handle. Rejects with TPM_REFUSED when there is none. */
  readPublic(handle: number): Promise<LoadedKey>
  /** Signs a SHA-256 digest; gives a TPMT_SIGNATURE. */
  sign(key: LoadedKey, digest: Uint8Array): Promise<Uint8Array>
  /** `by` says that `key` is in this TPM. */
  certify(key: LoadedKey, by: LoadedKey, extraData: Uint8Array): Promise<SignedAttestation>
  /** `by` says that `key` was made in this TPM. */
  certifyCreation(key: MadeKey, by: LoadedKey, extraData: Uint8Array): Promise<SignedAttestation>
  /** `by` signs `extraData` (at most 64 bytes) as a quote of no register. */
  quote(by: LoadedKey, extraData: Uint8Array): Promise<SignedAttestation>
  /** The secret of `makeCredential` for these two keys of this TPM. Rejects with TPM_REFUSED when they are others. */
  activateCredential(key: LoadedKey, endorsementKey: LoadedKey, credential: Credential): Promise<Uint8Array>
  /** Transient objects that are loaded, those of others too where there is no resource manager. */
  loaded(): Promise<number[]>
  flush(handle: number): Promise<void>
  /** Runs `work` and flushes the key, whatever came of it. */
  using<K extends LoadedKey, T>(key: Promise<K>, work: (key: K) => Promise<T>): Promise<T>
  close(): void
}

const persistentFrom = 0x8100_0000
const transientFrom = 0x8000_0000
const policySession = 1
const capabilityHandles = 1

/** Every method rejects with TPM_REFUSED (a TpmError), TPM_MALFORMED or TPM_ABSENT. */
export function createTpm(channel: TpmChannel, clock: Clock): Tpm {
  const send = commandSender(channel, clock)
  const flush = async (handle: number) => {
    await send({ name: 'flushContext', parameters: [uint32(handle)] })
  }
  return {
    ...keyCommands(send),
    ...statements(send),
    flush,
    async activateCredential(key, endorsementKey, { credentialBlob, encryptedSecret }) {
      const session = await endorsementSession(send, flush)
      try {
        const { parameters } = await send({
          name: 'activateCredential',
          handles: [key.handle, endorsementKey.handle],
          authorize: ['password', { policySession: session }],
          parameters: [sized(credentialBlob), sized(encryptedSecret)],
        })
        return parameters.sized()
      } catch (error) {
        // It ended with the command only where that succeeded.
        await flush(session)
        throw error
      }
    },
    async using(loading, work) {
      const key = await loading
      try {
        return await work(key)
      } finally {
        if (key.handle < persistentFrom) await flush(key.handle)
      }
    },
    close: () => channel.close(),
  }
}

function keyCommands(
  send: SendCommand,
): Pick<Tpm, 'getRandom' | 'createPrimary' | 'create' | 'load' | 'readPublic' | 'sign' | 'loaded'> {
  // No password, no data of ours; no outside information; no registers.
  const making = (template: Uint8Array) => [sized(empty, empty), sized(template), empty, uint32(0)]
  return {
    async getRandom(length) {
      const { parameters } = await send({ name: 'getRandom', parameters: [uint16(length)] })
      return parameters.sized()
    },
    async createPrimary(hierarchy, template) {
      const { handle, parameters } = await send({
        name: 'createPrimary',
        handles: [hierarchies[hierarchy]],
        authorize: ['password'],
        parameters: making(template),
        givesHandle: true,
      })
      const publicArea = parameters.sized()
      parameters.sized()
      return { handle, publicArea, creationHash: parameters.sized(), creationTicket: readTicket(parameters) }
    },
    async create(parent, template) {
      const { parameters } = await send({
        name: 'create',
        handles: [parent.handle],
        authorize: ['password'],
        parameters: making(template),
      })
      return { privatePart: parameters.sized(), publicArea: parameters.sized() }
    },
    async load(parent, { privatePart, publicArea }) {
      const { handle } = await send({
        name: 'load',
        handles: [parent.handle],
        authorize: ['password'],
        parameters: [sized(privatePart), sized(publicArea)],
        givesHandle: true,
      })
      return { handle, publicArea }
    },
    async readPublic(handle) {
      const { parameters } = await send({ name: 'readPublic', handles: [handle] })
      return { handle, publicArea: parameters.sized() }
    },
    async sign(key, digest) {
      const { parameters } = await send({
        name: 'sign',
        handles: [key.handle],
        authorize: ['password'],
        parameters: [
          sized(digest),
          uint16(algorithms.none),
          uint16(tags.hashCheck),
          uint32(hierarchies.none),
          empty,
        ],
      })
      return parameters.rest()
    },
    async loaded() {
      const { parameters } = await send({
        name: 'getCapability',
        parameters: [uint32(capabilityHandles), uint32(transientFrom), uint32(64)],
      })
      parameters.take(5)
      return Array.from({ length: Math.min(parameters.uint32(), 64) }, () => parameters.uint32())
    },
  }
}

/** What a key says and signs. The scheme is the key's own. */
function statements(send: SendCommand): Pick<Tpm, 'certify' | 'certifyCreation' | 'quote'> {
  const ownScheme = uint16(algorithms.none)
  const signed = ({ parameters }: { parameters: TpmReader }): SignedAttestation => ({
    attested: parameters.sized(),
    signature: parameters.rest(),
  })
  return {
    certify: async (key, by, extraData) =>
      signed(
        await send({
          name: 'certify',
          handles: [key.handle, by.handle],
          authorize: ['password', 'password'],
          parameters: [sized(extraData), ownScheme],
        }),
      ),
    certifyCreation: async (key, by, extraData) =>
      signed(
        await send({
          name: 'certifyCreation',
          handles: [by.handle, key.handle],
          authorize: ['password'],
          parameters: [sized(extraData), sized(key.creationHash), ownScheme, key.creationTicket],
        }),
      ),
    quote: async (by, extraData) =>
      signed(
        await send({
          name: 'quote',
          handles: [by.handle],
          authorize: ['password'],
          parameters: [sized(extraData), ownScheme, uint32(0)],
        }),
      ),
  }
}

/** A session that fulfils the policy of endorsement keys. */
async function endorsementSession(
  send: SendCommand,
  flush: (handle: number) => Promise<void>,
): Promise<number> {
  const { handle } = await send({
    name: 'startAuthSession',
    handles: [hierarchies.none, hierarchies.none],
    parameters: [
      sized(new Uint8Array(16)),
      empty,
      uint8(policySession),
      uint16(algorithms.none),
      uint16(algorithms.sha256),
    ],
    givesHandle: true,
  })
  try {
    await send({
      name: 'policySecret',
      handles: [hierarchies.endorsement, handle],
      authorize: ['password'],
      parameters: [empty, empty, empty, uint32(0)],
    })
    return handle
  } catch (error) {
    await flush(handle)
    throw error
  }
}

/** TPMT_TK_CREATION: tag, hierarchy, digest; as it is. */
function readTicket(reader: TpmReader): Uint8Array {
  const head = reader.take(6)
  return new Uint8Array(Buffer.concat([head, sized(reader.sized())]))
}
