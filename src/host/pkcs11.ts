/** PKCS#11 modules of this machine, by the optional native package pkcs11js, which is loaded when a token is first used. */
import { createRequire } from 'node:module'
import { RollcallError } from '../errors.ts'
import type { Attribute, Cryptoki, Handle, LoadCryptoki } from '../keys/pkcs11/cryptoki.ts'
import { CryptokiError, ckr } from '../keys/pkcs11/cryptoki.ts'

/** The part of pkcs11js that is used. Its types come with the package, which need not be installed. */
interface NativeModule {
  load(path: string): void
  close(): void
  C_Initialize(options: { flags: number }): void
  C_Finalize(): void
  C_GetSlotList(tokenPresent: boolean): Buffer[]
  C_GetTokenInfo(slot: Handle): {
    label: string
    serialNumber: string
    manufacturerID: string
    model: string
    flags: number
  }
  C_GetMechanismList(slot: Handle): number[]
  C_OpenSession(slot: Handle, flags: number): Buffer
  C_CloseSession(session: Handle): void
  C_Login(session: Handle, userType: number, pin: string): void
  C_FindObjectsInit(session: Handle, template: readonly Attribute[]): void
  C_FindObjects(session: Handle, most: number): Buffer[]
  C_FindObjectsFinal(session: Handle): void
  C_GetAttributeValue(session: Handle, object: Handle, template: { type: number }[]): { value: Buffer }[]
  C_SetAttributeValue(session: Handle, object: Handle, template: readonly Attribute[]): void
  C_SignInit(session: Handle, mechanism: { mechanism: number; parameter: null }, key: Handle): void
  C_SignAsync(session: Handle, data: Buffer, out: Buffer): Promise<Buffer>
  C_GenerateKeyPairAsync(
    session: Handle,
    mechanism: { mechanism: number; parameter: null },
    publicTemplate: readonly Attribute[],
    privateTemplate: readonly Attribute[],
  ): Promise<{ publicKey: Buffer; privateKey: Buffer }>
  C_DestroyObject(session: Handle, object: Handle): void
}

/** CKF_OS_LOCKING_OK: p11-kit's client refuses to be initialized without it, and signatures are made on threads. */
const osLockingOk = 2
const serialSession = 4
const readWriteSession = 2
const user = 1
const alreadyInitialized = 0x191

interface LoadedModule {
  cryptoki: Cryptoki
  /** Resolves when no reload is under way. */
  reloaded(): Promise<void>
}

/**
 * A loader that keeps what it loaded: PKCS#11 knows one application a process. Not for a process that also has OpenSSL's
 * engine or provider for tokens: a module that is finalized here would be gone for them too.
 */
export function cryptokiLoader(): LoadCryptoki {
  const loaded = new Map<string, LoadedModule>()
  return async path => {
    const { cryptoki, reloaded } = loaded.get(path) ?? openModule(nativePackage(), path)
    loaded.set(path, { cryptoki, reloaded })
    await reloaded()
    return cryptoki
  }
}

function nativePackage(): { PKCS11: new () => NativeModule } {
  try {
    return createRequire(import.meta.url)('pkcs11js')
  } catch (cause) {
    throw new RollcallError(
      'PKCS11_UNAVAILABLE',
      'keys in a PKCS#11 token need the native package pkcs11js, which is not compiled here; run `npm rebuild pkcs11js` (it needs g++, make and python3).',
      {},
      { cause },
    )
  }
}

function openModule({ PKCS11 }: { PKCS11: new () => NativeModule }, path: string): LoadedModule {
  const native = new PKCS11()
  try {
    native.load(path)
    initialize(native)
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause)
    throw new RollcallError(
      'PKCS11_UNAVAILABLE',
      `the PKCS#11 module ${path} cannot be loaded (${why}); check module-path.`,
      { path },
      { cause },
    )
  }
  return cryptokiOf(native)
}

function initialize(native: NativeModule): void {
  try {
    native.C_Initialize({ flags: osLockingOk })
  } catch (error) {
    if (numberOf(error) !== alreadyInitialized) throw error
  }
}

function cryptokiOf(native: NativeModule): LoadedModule {
  let generation = 1
  let underWay = 0
  let reloading: Promise<void> | undefined
  let quiet = () => {}

  /** Counts what runs on a thread: C_Finalize meanwhile would pull the module away under it. */
  async function onThread<T>(start: () => Promise<T>): Promise<T> {
    // Its handles are of the generation that ends: it must not wait and then use them.
    if (reloading) throw new CryptokiError(ckr.sessionHandleInvalid, 'CKR_SESSION_HANDLE_INVALID', 'reload')
    underWay++
    try {
      return await start()
    } catch (error) {
      throw cryptokiError(error)
    } finally {
      underWay--
      if (underWay === 0) quiet()
    }
  }

  async function reload(): Promise<void> {
    reloading ??= initializeAgain().finally(() => {
      reloading = undefined
    })
    await reloading
  }

  async function initializeAgain(): Promise<void> {
    await new Promise<void>(resolve => {
      quiet = resolve
      if (underWay === 0) resolve()
    })
    try {
      plain(() => native.C_Finalize())
    } catch (error) {
      // It could not be initialized last time.
      if (!(error instanceof CryptokiError) || error.value !== ckr.cryptokiNotInitialized) throw error
    } finally {
      generation++
      plain(() => initialize(native))
    }
  }

  const cryptoki: Cryptoki = {
    ...objectCalls(native),
    get generation() {
      return generation
    },
    reload,
    sign: (session, mechanism, key, data, mostBytes) =>
      onThread(async () => {
        native.C_SignInit(session, { mechanism, parameter: null }, key)
        return new Uint8Array(await native.C_SignAsync(session, Buffer.from(data), Buffer.alloc(mostBytes)))
      }),
    generateKeyPair: (session, mechanism, publicTemplate, privateTemplate) =>
      onThread(() =>
        native.C_GenerateKeyPairAsync(
          session,
          { mechanism, parameter: null },
          withBuffers(publicTemplate),
          withBuffers(privateTemplate),
        ),
      ),
  }
  return { cryptoki, reloaded: async () => reloading }
}

/** The calls that are made at once, on the event loop: short, and rare but for the signatures. */
function objectCalls(native: NativeModule) {
  return {
    slots: () => plain(() => native.C_GetSlotList(true)),
    tokenInfo: (slot: Handle) => {
      const info = plain(() => native.C_GetTokenInfo(slot))
      return {
        label: unpadded(info.label),
        serial: unpadded(info.serialNumber),
        manufacturer: unpadded(info.manufacturerID),
        model: unpadded(info.model),
        flags: info.flags,
      }
    },
    mechanisms: (slot: Handle) => plain(() => native.C_GetMechanismList(slot)),
    openSession: (slot: Handle, readWrite: boolean) =>
      plain(() => native.C_OpenSession(slot, serialSession | (readWrite ? readWriteSession : 0))),
    closeSession: (session: Handle) => plain(() => native.C_CloseSession(session)),
    login: (session: Handle, pin: { reveal(): string }) =>
      plain(() => native.C_Login(session, user, pin.reveal())),
    findObjects: (session: Handle, template: readonly Attribute[], most: number) =>
      plain(() => {
        native.C_FindObjectsInit(session, withBuffers(template))
        try {
          return native.C_FindObjects(session, most)
        } finally {
          native.C_FindObjectsFinal(session)
        }
      }),
    // One by one: where one attribute is missing, a module need not give the others.
    attributes: (session: Handle, object: Handle, types: readonly number[]) =>
      types.map(type => attribute(native, session, object, type)),
    setAttributes: (session: Handle, object: Handle, attributes: readonly Attribute[]) =>
      plain(() => native.C_SetAttributeValue(session, object, withBuffers(attributes))),
    destroyObject: (session: Handle, object: Handle) => plain(() => native.C_DestroyObject(session, object)),
  }
}

const attributeSensitive = 0x11
const attributeTypeInvalid = 0x12

function attribute(
  native: NativeModule,
  session: Handle,
  object: Handle,
  type: number,
): Uint8Array | undefined {
  try {
    return native.C_GetAttributeValue(session, object, [{ type }])[0]?.value
  } catch (error) {
    const value = numberOf(error)
    if (value === attributeSensitive || value === attributeTypeInvalid) return undefined
    throw cryptokiError(error)
  }
}

/** pkcs11js takes bytes only as Buffers. */
function withBuffers(template: readonly Attribute[]): Attribute[] {
  return template.map(({ type, value }) => ({
    type,
    value: value instanceof Uint8Array ? Buffer.from(value) : value,
  }))
}

function unpadded(text: string): string {
  return text.replace(/[\0 ]+$/, '')
}

function plain<T>(call: () => T): T {
  try {
    return call()
  } catch (error) {
    throw cryptokiError(error)
  }
}

function numberOf(error: unknown): number | undefined {
  return error instanceof Error && 'code' in error && typeof error.code === 'number' ? error.code : undefined
}

function cryptokiError(error: unknown): unknown {
  const value = numberOf(error)
  if (!(error instanceof Error) || !value || error instanceof CryptokiError) return error
  const call = 'method' in error && typeof error.method === 'string' ? error.method : 'PKCS#11'
  return new CryptokiError(value, error.message, call)
}
