/** Who looks, and how the page asks: with a token of this tab alone, so there are no cookies that others could use. */
import { signal } from '@preact/signals'

export interface Who {
  user: string
  groups: string[]
  /** Milliseconds since the epoch; absent for a token that is the viewer's own. */
  expires?: number
  last?: number
}

const stored = 'rollcall.token'
const base = '/dashboard/api/'

export const who = signal<Who | undefined>(undefined)
/** `asking`: not known yet. */
export const login = signal<{ state: 'asking' | 'out' | 'in'; message?: string }>({ state: 'asking' })

export class Refusal extends Error {
  readonly status: number
  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

/** Rejects with a Refusal for an answer that is none; one that says who-are-you ends the session here too. */
export async function call<T>(path: string, order?: unknown, token?: string): Promise<T> {
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
  if (response.status === 401) leave(message)
  throw new Refusal(response.status, message)
}

function leave(message?: string): void {
  sessionStorage.removeItem(stored)
  who.value = undefined
  login.value = message === undefined ? { state: 'out' } : { state: 'out', message }
}

/** Uses the key of a login link, or what this tab has, or the client certificate of the connection. */
export async function begin(key = keyIn(location.hash)): Promise<void> {
  // Neither history nor screen keep the key.
  if (key !== undefined) history.replaceState(null, '', '#/fleet')
  try {
    if (key !== undefined) {
      sessionStorage.removeItem(stored)
      const opened = await call<Who & { token: string }>('sessions', { key })
      sessionStorage.setItem(stored, opened.token)
    }
    const had = sessionStorage.getItem(stored) !== null
    who.value = await call<Who>('me').catch(error => {
      // Nobody has tried to log in yet, so nothing went wrong.
      if (!had && error instanceof Refusal) leave()
      throw error
    })
    login.value = { state: 'in' }
  } catch (error) {
    if (login.value.state !== 'out') leave(error instanceof Error ? error.message : String(error))
  }
}

function keyIn(hash: string): string | undefined {
  return /^#key=([\w-]+)$/.exec(hash)?.[1]
}

/**
 * With a bearer token for the API itself. It is used once, for a session: what a tab stores comes to the disk when the
 * browser keeps its tabs, and this one may be good for a year.
 */
export async function enter(token: string): Promise<void> {
  login.value = { state: 'asking' }
  try {
    const { url } = await call<{ url: string }>('links', {}, token)
    await begin(keyIn(new URL(url).hash))
  } catch (error) {
    if (login.value.state === 'asking') leave(error instanceof Error ? error.message : String(error))
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
