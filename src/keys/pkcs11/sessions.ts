import { type Cryptoki, CryptokiError, ckr, type Handle } from './cryptoki.ts'

/** Sessions with one token, opened as they are needed. A session signs one thing at a time. */
export interface Sessions {
  /** Runs `work` with a session that nobody else uses meanwhile; waits for one where all are busy. */
  lend<T>(work: (session: Handle) => Promise<T> | T): Promise<T>
  /** Closes the idle ones at once, the others when they come back. */
  close(): void
}

/** `first`: an open session; it stays open, since the token forgets the login with the last one. `most`: sessions. */
export function createSessions(cryptoki: Cryptoki, slot: Handle, first: Handle, most: number): Sessions {
  const { generation } = cryptoki
  const idle = [first]
  const waiting: { resolve(session: Handle): void; reject(error: unknown): void }[] = []
  let open = 1
  let limit = most
  let closed = false

  function take(): Handle | undefined {
    const session = idle.pop()
    if (session || open >= limit) return session
    try {
      const opened = cryptoki.openSession(slot, false)
      open++
      return opened
    } catch (error) {
      // The token has no more sessions than these.
      if (!(error instanceof CryptokiError) || error.value !== ckr.sessionCount) throw error
      limit = open
      return undefined
    }
  }

  function giveBack(session: Handle): void {
    const next = waiting.shift()
    if (closed) drop(session)
    else if (next) next.resolve(session)
    else idle.push(session)
  }

  function drop(session: Handle): void {
    // After a reload the same number may be a session of somebody else.
    if (cryptoki.generation !== generation) return
    try {
      cryptoki.closeSession(session)
    } catch (error) {
      // It went with the token, or is closed already.
      if (!(error instanceof CryptokiError)) throw error
    }
  }

  return {
    async lend(work) {
      const session =
        take() ?? (await new Promise<Handle>((resolve, reject) => waiting.push({ resolve, reject })))
      try {
        return await work(session)
      } finally {
        giveBack(session)
      }
    },
    close() {
      closed = true
      for (const session of idle.splice(0)) drop(session)
      // Those who wait are to connect anew: the number of a session that is gone may be another's by now.
      for (const { reject } of waiting.splice(0))
        reject(
          new CryptokiError(ckr.sessionClosed, 'CKR_SESSION_CLOSED', 'the connection to the token was lost'),
        )
    },
  }
}
