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
  user: string
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
/** Links and sessions that are kept, of one user and of all; the oldest go first, and nobody can push out all others'. */
const mostOfOne = 50
const most = 5000
const prefix = 'rcs_'

/** Whether a bearer token is one of ours, living or dead, and not one for the API. */
export const isSessionToken = (token: string): boolean => token.startsWith(prefix)

export interface Sessions {
  /** A key for the fragment of a link, which opens a session once. `user`: whose credential it is. */
  link(credential: Credential, user: string): { key: string; expires: number }
  /** Undefined: the key is unknown, used or too old. */
  open(key: string): { token: string; session: Session } | undefined
  find(token: string): Session | undefined
  /** For another `sessionLife`, within `longestSession`. */
  renew(session: Session): void
  close(token: string): void
}

export function createSessions({ clock, random }: { clock: Clock; random: Random }): Sessions {
  const links = new Map<string, { credential: Credential; user: string; expires: number }>()
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
    link(credential, user) {
      const key = secret()
      const expires = clock.now() + linkLife
      keep(links, digest(key), { credential, user, expires })
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
        user: link.user,
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

function keep<T extends { user: string }>(map: Map<string, T>, key: string, value: T): void {
  map.set(key, value)
  const own = [...map].flatMap(([key, { user }]) => (user === value.user ? [key] : []))
  const [oldest] = own.length > mostOfOne ? own : map.size > most ? map.keys() : []
  if (oldest !== undefined) map.delete(oldest)
}
