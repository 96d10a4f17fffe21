/**
 * Login links and sessions, in memory: a link is used once and soon, a session stands for the credential that its link
 * was made with, for a while. Only digests of keys are kept.
 */
import type { Peer } from '../../kube/transport.ts'
import type { Clock, Random } from '../../ports.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'

/** What a viewer proved himself with: the API looks at it anew for each of his calls. */
export interface Credential {
  peer: Peer
  /** authorization and impersonation, where he used them. */
  headers: Record<string, string>
}

export interface Session {
  credential: Credential
  /** Milliseconds since the epoch. */
  expires: number
  /** It cannot be renewed beyond this. */
  last: number
}

/** Milliseconds. */
export const linkLife = 2 * 60_000
export const sessionLife = 15 * 60_000
/** A working day: then somebody has to show the credential again. */
export const longestSession = 8 * 3_600_000
/** Links and sessions that are kept; the oldest go first. */
const most = 1000
const prefix = 'rcs_'

/** Whether a bearer token is one of ours, living or dead, and not one for the API. */
export const isSessionToken = (token: string): boolean => token.startsWith(prefix)

export interface Sessions {
  /** A key for the fragment of a link, which opens a session once. */
  link(credential: Credential): { key: string; expires: number }
  /** Undefined: the key is unknown, used or too old. */
  open(key: string): { token: string; session: Session } | undefined
  find(token: string): Session | undefined
  /** For another `sessionLife`, within `longestSession`. */
  renew(session: Session): void
  close(token: string): void
}

export function createSessions({ clock, random }: { clock: Clock; random: Random }): Sessions {
  const links = new Map<string, { credential: Credential; expires: number }>()
  const sessions = new Map<string, Session>()
  const secret = () => Buffer.from(random.bytes(32)).toString('base64url')
  const digest = (text: string) => sha256Hex(Buffer.from(text))

  function find(token: string): Session | undefined {
    const session = sessions.get(digest(token))
    if (session && session.expires > clock.now()) return session
    sessions.delete(digest(token))
    return undefined
  }

  return {
    link(credential) {
      const key = secret()
      const expires = clock.now() + linkLife
      keep(links, digest(key), { credential, expires })
      return { key, expires }
    },
    open(key) {
      const link = links.get(digest(key))
      links.delete(digest(key))
      const now = clock.now()
      if (!link || link.expires <= now) return undefined
      const token = prefix + secret()
      const session = {
        credential: link.credential,
        expires: now + sessionLife,
        last: now + longestSession,
      }
      keep(sessions, digest(token), session)
      return { token, session }
    },
    find,
    renew(session) {
      session.expires = Math.min(session.last, clock.now() + sessionLife)
    },
    close: token => void sessions.delete(digest(token)),
  }
}

function keep<T>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value)
  const oldest = map.keys().next().value
  if (map.size > most && oldest !== undefined) map.delete(oldest)
}
