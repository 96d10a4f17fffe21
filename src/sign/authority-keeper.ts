/** Keeps a signing CA loaded from its certificate file and wherever its key is, as both change. */
import { type ErrorCode, RollcallError, systemCode } from '../errors.ts'
import type { KeyReference } from '../keys/key-reference.ts'
import { type KeyDoors, type OpenKey, openKey } from '../keys/open-key.ts'
import { formatTime } from '../kube/time-format.ts'
import type { Log } from '../ports.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { formatName } from '../x509/name.ts'
import { type Authority, type AuthoritySource, authorityOf } from './authority.ts'

export interface AuthorityKeeperOptions extends KeyDoors {
  /** Path of the CA certificate, PEM. */
  certificate: string
  key: KeyReference
  /** Seconds that no leaf lives longer than: a CA that ends sooner is told of. */
  certificateLifetimeSeconds: number
  log: Log
}

export interface AuthorityKeeper extends AuthoritySource {
  stop(): void
}

/** Milliseconds between two looks at the files; kube-controller-manager looks each minute (C-21). */
const lookEvery = 10_000
/** Milliseconds between two warnings of a CA that ends soon. */
const remindEvery = 86_400_000

/** What comes right by itself or by an act on the token, without another command line. */
const mayComeRight: ReadonlySet<ErrorCode> = new Set<ErrorCode>([
  'TOKEN_ABSENT',
  'TOKEN_KEY_ABSENT',
  'TOKEN_FAILED',
  'KEY_MISMATCH',
  'PIN_UNREADABLE',
  'PIN_WRONG',
  'PIN_LAST_TRY',
  'PIN_LOCKED',
  'SIGNER_UNREACHABLE',
])

/** Whether the CA's key cannot sign for now, and not what was to be signed is at fault. */
export function keyIsAway(error: unknown): boolean {
  return error instanceof RollcallError && mayComeRight.has(error.code)
}

interface Loaded {
  authority: Authority
  key: OpenKey
  digest: string
}

/**
 * Starts the keeping. Level, not edge: each look compares the contents with what is loaded. A pair that cannot be used,
 * because one half was written before the other or belongs to something else, leaves the good one signing, and is told
 * of. A key that is away (token, external signer) is waited for. Rejects with what is wrong with the command line or the
 * files at the start: USAGE, KEY_URI_INVALID, PKCS11_UNAVAILABLE, SIGNER_UNUSABLE, X509_….
 */
export async function startAuthorityKeeper(options: AuthorityKeeperOptions): Promise<AuthorityKeeper> {
  const { clock, log } = options
  const place = { certificate: options.certificate, key: options.key.kind }
  const listeners = new Set<() => void>()
  let loaded: Loaded | undefined
  let problem: string | undefined
  /** The loaded key failed when it was to sign. */
  let doubted = false
  let reminded = Number.NEGATIVE_INFINITY
  let stopped = false
  let timer = clock.after(lookEvery, () => void lookAgain())

  async function look(): Promise<void> {
    const digest = await contentOf(options)
    if (loaded?.digest === digest && !doubted) {
      await loaded.key.check().catch(error => {
        doubted = keyIsAway(error)
        throw error
      })
      return settle(undefined)
    }
    const next = await load(options, digest)
    if (stopped) return next.key.close()
    loaded?.key.close()
    loaded = next
    doubted = false
    const { notAfter, subject } = next.authority.certificate
    log.info('a signing CA is loaded', {
      ...place,
      subject: formatName(subject),
      notAfter: formatTime(notAfter),
    })
    settle(undefined)
    for (const listener of listeners) listener()
  }

  async function lookAgain(): Promise<void> {
    try {
      await look()
    } catch (error) {
      settle(error instanceof Error ? error.message : String(error))
    }
    if (!stopped) timer = clock.after(lookEvery, () => void lookAgain())
    remind()
  }

  function settle(next: string | undefined): void {
    if (next !== undefined && next !== problem)
      log.warn(
        loaded && !doubted
          ? 'a signing CA changed into one that cannot be used; the old one goes on'
          : 'a signing CA cannot sign',
        {
          ...place,
          problem: next,
        },
      )
    if (next === undefined && problem !== undefined) log.info('a signing CA is in order again', place)
    problem = next
  }

  function remind(): void {
    const notAfter = loaded?.authority.certificate.notAfter
    if (notAfter === undefined || clock.monotonic() - reminded < remindEvery) return
    if (notAfter - clock.now() >= options.certificateLifetimeSeconds * 1000) return
    reminded = clock.monotonic()
    log.warn('a signing CA ends sooner than its certificates would; they are cut short to its end', {
      ...place,
      notAfter: formatTime(notAfter),
    })
  }

  try {
    await look()
  } catch (error) {
    if (!keyIsAway(error)) {
      timer.cancel()
      throw error
    }
    settle((error as RollcallError).message)
  }
  remind()
  return {
    current: () => (doubted ? undefined : loaded?.authority),
    problem: () => problem,
    failed(authority, error) {
      if (loaded?.authority !== authority || !(error instanceof Error)) return
      doubted = true
      settle(error.message)
    },
    onChange(run) {
      listeners.add(run)
      return () => void listeners.delete(run)
    },
    stop() {
      stopped = true
      timer.cancel()
      loaded?.key.close()
    },
  }
}

async function load(options: AuthorityKeeperOptions, digest: string): Promise<Loaded> {
  const pem = await read(options.certificate, options)
  const key = await openKey(options.key, options)
  try {
    return { authority: authorityOf(pem, key.signer), key, digest }
  } catch (cause) {
    key.close()
    if (!(cause instanceof RollcallError)) throw cause
    throw new RollcallError(cause.code, `${options.certificate}: ${cause.message}`, {}, { cause })
  }
}

/** What the files hold, as one digest; a key that is no file has no content that could be read. */
async function contentOf(options: AuthorityKeeperOptions): Promise<string> {
  const { certificate, key } = options
  const texts = [await read(certificate, options), key.kind === 'file' ? await read(key.path, options) : '']
  return sha256Hex(Buffer.from(JSON.stringify(texts)))
}

async function read(path: string, { disk }: AuthorityKeeperOptions): Promise<string> {
  try {
    return new TextDecoder().decode(await disk.read(path))
  } catch (cause) {
    const why = systemCode(cause) ?? String(cause)
    throw new RollcallError('USAGE', `${path} cannot be read (${why}).`, { path }, { cause })
  }
}
