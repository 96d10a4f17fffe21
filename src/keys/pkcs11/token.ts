import { RollcallError } from '../../errors.ts'
import { type Clock, type Disk, withTimeout } from '../../ports.ts'
import { type Cryptoki, CryptokiError, type Handle, type LoadCryptoki, type TokenInfo } from './cryptoki.ts'
import { login } from './login.ts'
import { createSessions, type Sessions } from './sessions.ts'
import { connectionIsLost, tokenError } from './token-error.ts'
import type { Pkcs11Uri, TokenMatch } from './uri.ts'

export interface TokenOptions {
  /** Its module-path must be there. */
  uri: Pkcs11Uri
  load: LoadCryptoki
  disk: Pick<Disk, 'read' | 'stat'>
  clock: Clock
  /** Most signatures at a time; default 4, as many as node's pool has threads. */
  sessions?: number
}

/** A logged-in connection to a token, until it is lost. */
export interface Connection {
  readonly cryptoki: Cryptoki
  readonly slot: Handle
  readonly info: TokenInfo
}

/** A token that is connected to when it is used, and again whenever the connection was lost. */
export interface Token {
  /**
   * Runs `work` with a session of its own; again on a new connection when the first was lost, and once the module was
   * reloaded for it, so it must do no harm when repeated. Rejects with RollcallError TOKEN_ABSENT, TOKEN_KEY_ABSENT, TOKEN_FAILED, PIN_…, MECHANISM_MISSING,
   * PKCS11_UNAVAILABLE or KEY_URI_INVALID.
   */
  use<T>(work: (connection: Connection, session: Handle) => Promise<T> | T): Promise<T>
  /** The same with a session that may write, opened for this one work. */
  change<T>(work: (connection: Connection, session: Handle) => Promise<T> | T): Promise<T>
  close(): void
}

/** Milliseconds between two reloads of a module for a token that is not found. */
const reloadEvery = 5_000

/** Milliseconds for a signature, connecting included; and for a change, as a slow token makes an RSA key for minutes. */
const patience = { use: 30_000, change: 300_000 }

type Pooled = Connection & { sessions: Sessions; generation: number }

export function openToken(options: TokenOptions): Token {
  const { uri, load, disk, clock } = options
  const where = nameOf(uri.token)
  let current: Promise<Pooled> | undefined
  let reloaded = Number.NEGATIVE_INFINITY

  function connection(): Promise<Pooled> {
    if (current) return current
    const made = connectReloading()
    current = made
    made.catch(() => {
      if (current === made) current = undefined
    })
    return made
  }

  /** What is not found may be there after a reload: a module looks for tokens when it is initialized. */
  async function connectReloading(): Promise<Pooled> {
    const cryptoki = await load(modulePath(uri))
    try {
      return await connect(cryptoki)
    } catch (error) {
      const absent = error instanceof RollcallError && error.code === 'TOKEN_ABSENT'
      if (!(absent || connectionIsLost(error)) || !(await reload(cryptoki))) throw error
      return await connect(cryptoki)
    }
  }

  /** Resolves with false when it was done a moment ago. */
  async function reload(cryptoki: Cryptoki): Promise<boolean> {
    if (clock.monotonic() - reloaded < reloadEvery) return false
    reloaded = clock.monotonic()
    await cryptoki.reload()
    return true
  }

  async function connect(cryptoki: Cryptoki): Promise<Pooled> {
    const { generation } = cryptoki
    const { slot, info } = findToken(cryptoki, uri.token)
    const first = cryptoki.openSession(slot, false)
    try {
      await login(cryptoki, first, info, { pinSource: uri.pinSource, disk })
    } catch (error) {
      if (cryptoki.generation === generation) cryptoki.closeSession(first)
      throw error
    }
    const sessions = createSessions(cryptoki, slot, first, options.sessions ?? 4)
    return { cryptoki, slot, info, sessions, generation }
  }

  async function run<T>(work: (pooled: Pooled) => Promise<T>): Promise<T> {
    for (let attempt = 1; ; attempt++) {
      const used = connection()
      try {
        const pooled = await used
        if (pooled.generation !== pooled.cryptoki.generation) {
          // Reloaded for somebody else: the old handles may now be other people's.
          forget(used, pooled)
          attempt--
          continue
        }
        return await work(pooled)
      } catch (error) {
        if (!connectionIsLost(error)) throw tokenError(error, where)
        const pooled = await used.catch(() => undefined)
        forget(used, pooled)
        if (attempt === 1) continue
        // A TPM's module connects again without a word, and works again only when it is initialized anew.
        const again =
          attempt === 2 &&
          pooled &&
          (await reload(pooled.cryptoki).catch(failure => tokenError(failure, where)))
        if (again !== true) throw again || tokenError(error, where)
      }
    }
  }

  function forget(used: Promise<Pooled>, pooled: Pooled | undefined): void {
    if (current === used) current = undefined
    pooled?.sessions.close()
  }

  /** A module that hangs keeps its session; who waits for it is told and may come again. */
  function limited<T>(milliseconds: number, work: Promise<T>): Promise<T> {
    return withTimeout(clock, milliseconds, work, () => {
      const why = `${where}: no answer within ${milliseconds / 1000} s; look at the token and its module.`
      return new RollcallError('TOKEN_FAILED', why)
    })
  }

  return {
    use: work =>
      limited(
        patience.use,
        run(pooled => pooled.sessions.lend(session => work(pooled, session))),
      ),
    change: work =>
      limited(
        patience.change,
        run(async pooled => {
          const session = pooled.cryptoki.openSession(pooled.slot, true)
          try {
            return await work(pooled, session)
          } finally {
            if (pooled.generation === pooled.cryptoki.generation) pooled.cryptoki.closeSession(session)
          }
        }),
      ),
    close() {
      const last = current
      current = undefined
      last?.then(
        ({ sessions }) => sessions.close(),
        () => {},
      )
    },
  }
}

function modulePath(uri: Pkcs11Uri): string {
  if (uri.modulePath !== undefined) return uri.modulePath
  throw new RollcallError(
    'KEY_URI_INVALID',
    'the pkcs11: URI names no module; add ?module-path=/path/of/the/module.so.',
  )
}

function findToken(cryptoki: Cryptoki, match: TokenMatch): { slot: Handle; info: TokenInfo } {
  const found = cryptoki.slots().flatMap(slot => {
    const info = infoOf(cryptoki, slot)
    return info ? [{ slot, info }] : []
  })
  const fitting = found.filter(({ info }) =>
    Object.entries(match).every(([member, value]) => info[member as keyof TokenMatch] === value),
  )
  const [first, second] = fitting
  if (first && !second) return first
  if (second)
    throw new RollcallError(
      'KEY_URI_INVALID',
      `${fitting.length} tokens are ${nameOf(match)}; add serial=… to the URI (${fitting.map(({ info }) => info.serial).join(', ')}).`,
    )
  const labels = found.map(({ info }) => JSON.stringify(info.label)).filter(label => label !== '""')
  throw new RollcallError(
    'TOKEN_ABSENT',
    `${nameOf(match)} is not there (the module shows ${labels.join(', ') || 'no token'}); connect it, or correct the URI.`,
  )
}

/** A slot whose token went away since the module was initialized answers with an error. */
function infoOf(cryptoki: Cryptoki, slot: Handle): TokenInfo | undefined {
  try {
    return cryptoki.tokenInfo(slot)
  } catch (error) {
    if (error instanceof CryptokiError) return undefined
    throw error
  }
}

function nameOf(match: TokenMatch): string {
  const named = Object.entries(match).map(([member, value]) =>
    member === 'label' ? JSON.stringify(value) : `${member} ${JSON.stringify(value)}`,
  )
  return `token ${named.join(', ') || 'of any name'}`
}
