/** Who looks, and how the page asks: with a token of this tab alone, so there are no cookies that others could use. */
import { signal } from '@preact/signals'

export interface Who {
  user: string
  groups: string[]
  /** Milliseconds since the epoch; absent for a token that is the viewer's own. */
  expires?: number
  last?: number
}

/** The session that a link opened, before somebody has said that the link is his. */
export interface Offer extends Who {
  token: string
}

const stored = 'rollcall.token'
const base = '/dashboard/api/'

export const who = signal<Who | undefined>(undefined)
type Login =
  /** `asking`: not known yet. */
  { state: 'asking' | 'out' | 'in'; message?: string } | { state: 'offered'; offer: Offer }
export const login = signal<Login>({ state: 'asking' })

export class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/**
 * Rejects with a Refusal for an answer that is none; one that says who-are-you to the session of this tab ends it here too.
 * `token`: another one than this tab's; null: none.
 */
export async function call<T>(path: string, order?: unknown, token?: string | null): Promise<T> {
  const response = await ask(path, order, undefined, token)
  return (await response.json()) as T
}

export async function ask(
  path: string,
  order?: unknown,
  signal?: AbortSignal,
  token = sessionStorage.getItem(stored),
): Promise<Response> {
  const response = await fetch(base + path, {
    method: order === undefined ? 'GET' : 'POST',
    headers: {
      ...(token && { authorization: `Bearer ${token}` }),
      ...(order !== undefined && { 'content-type': 'application/json' }),
    },
    credentials: 'same-origin',
    cache: 'no-store',
    ...(order !== undefined && { body: JSON.stringify(order) }),
    ...(signal && { signal }),
  })
  if (response.ok) return response
  const { message = `HTTP ${response.status}` } = await response.json().catch(() => ({}))
  if (response.status === 401 && token === sessionStorage.getItem(stored)) leave(message)
  throw new Refusal(response.status, message)
}

function leave(message?: string): void {
  sessionStorage.removeItem(stored)
  who.value = undefined
  login.value = message === undefined ? { state: 'out' } : { state: 'out', message }
}

/** Takes up a login link, or what this tab has, or the client certificate of the connection. */
export async function begin(): Promise<void> {
  const key = keyIn(location.hash)
  if (key === undefined) return resume()
  // Neither history nor screen keep the key.
  history.replaceState(null, '', '#/fleet')
  try {
    const offer = await open(key)
    // Whose the tab was is said beside the question. A session that is over by now was nobody's.
    if (sessionStorage.getItem(stored)) who.value ??= await call<Who>('me').catch(() => undefined)
    login.value = { state: 'offered', offer }
  } catch (error) {
    // A link that opens nothing ends no session either.
    await resume(messageOf(error))
  }
}

function keyIn(hash: string): string | undefined {
  return /^#key=([\w-]+)$/.exec(hash)?.[1]
}

const open = (key: string | undefined) => call<Offer>('sessions', { key }, null)

const messageOf = (error: unknown) => (error instanceof Error ? error.message : String(error))

/** As whom this tab is known already. `message`: what to say where it is not. */
async function resume(message?: string): Promise<void> {
  const had = sessionStorage.getItem(stored) !== null
  try {
    who.value = await call<Who>('me')
    login.value = { state: 'in' }
  } catch (error) {
    // Where nobody has tried to log in yet, nothing went wrong.
    if (!had && error instanceof Refusal) leave(message)
    else if (login.value.state !== 'out') leave(messageOf(error))
  }
}

/** Somebody has said that the link is his: a link of somebody else would have him look, and decide, in that one's name. */
export async function accept({ token }: Offer): Promise<void> {
  sessionStorage.setItem(stored, token)
  await resume()
}

/** The link is not his: its session ends, and this tab is whose it was. */
export async function decline({ token }: Offer): Promise<void> {
  // Where this does not arrive, the session ends by itself: nobody has its token.
  await call('session/end', {}, token).catch(() => {})
  await resume('Nobody was logged in by that link. Make one of your own.')
}

/**
 * With a bearer token for the API itself. It is used once, for a session: what a tab stores comes to the disk when the
 * browser keeps its tabs, and this one may be good for a year.
 */
export async function enter(token: string): Promise<void> {
  login.value = { state: 'asking' }
  try {
    const { url } = await call<{ url: string }>('links', {}, token)
    await accept(await open(keyIn(new URL(url).hash)))
  } catch (error) {
    if (login.value.state === 'asking') leave(messageOf(error))
  }
}

export async function end(): Promise<void> {
  await call('session/end', {}).catch(() => {})
  leave()
}

/** Milliseconds. */
const [renewal, idle] = [4 * 60_000, 5 * 60_000]

/** As long as somebody does something with the page, its session goes on. */
export function keepSession(): void {
  let touched = Date.now()
  for (const event of ['pointerdown', 'keydown', 'wheel'])
    addEventListener(
      event,
      () => {
        touched = Date.now()
      },
      { passive: true },
    )
  setInterval(() => {
    if (who.value?.expires === undefined || Date.now() - touched > idle) return
    call<Who>('session/renew', {}).then(
      renewed => {
        who.value = renewed
      },
      () => {},
    )
  }, renewal)
}
