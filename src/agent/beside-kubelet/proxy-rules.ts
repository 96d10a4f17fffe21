import { createHash, timingSafeEqual } from 'node:crypto'
import type { Secret } from '../../keys/secret.ts'

/** What is known of a request before anything is done for it. */
export interface ProxyRequest {
  method: string
  url: string
  /** Name and value by turns, as they came. */
  rawHeaders: readonly string[]
}

export interface ProxyRefusal {
  status: 400 | 401 | 421
  reason: 'BadRequest' | 'Unauthorized'
  message: string
}

/**
 * Why a request must not go upstream; undefined: it may. Whoever can reach the loopback of this machine can ask (any
 * process, any pod with hostNetwork), so only the token in a file of root's lets in, and a name that is not ours in Host is
 * a browser that was led here.
 */
export function refusalOf(
  { url, rawHeaders }: ProxyRequest,
  token: Secret,
  port: number,
): ProxyRefusal | undefined {
  const authorization = valuesOf(rawHeaders, 'authorization')
  const [presented = ''] = authorization
  if (authorization.length !== 1 || !isBearer(presented, token))
    return { status: 401, reason: 'Unauthorized', message: "the bearer token is not this proxy's" }
  const hosts = valuesOf(rawHeaders, 'host')
  if (hosts.length !== 1 || !ownHosts(port).includes((hosts[0] ?? '').toLowerCase()))
    return { status: 421, reason: 'BadRequest', message: `this is 127.0.0.1:${port} and no other host` }
  // The absolute form names a host of its own, `*` and authorities are for other kinds of proxies.
  if (!url.startsWith('/'))
    return { status: 400, reason: 'BadRequest', message: 'only paths of the API are served' }
  return undefined
}

/** In constant time: what is compared are digests of one length, so neither length nor content of the token shows. */
function isBearer(presented: string, token: Secret): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(presented), digest(`Bearer ${token.reveal()}`))
}

const ownHosts = (port: number) => [`127.0.0.1:${port}`, `localhost:${port}`]

function valuesOf(rawHeaders: readonly string[], name: string): string[] {
  return pairsOf(rawHeaders).flatMap(([key, value]) => (key.toLowerCase() === name ? [value] : []))
}

/** Of one connection only (RFC 9110 7.6.1), or made anew for the next. */
const hopByHop = [
  'connection',
  'keep-alive',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
/** What names or vouches for somebody: upstream knows the caller by the certificate alone. */
const identities =
  /^(authorization|proxy-authorization|cookie|impersonate-.*|x-remote-.*|x-forwarded-.*|forwarded)$/

/**
 * The headers that go upstream, name and value by turns. `upgrade`: the protocol that the connection is to become. A body
 * keeps its length or its chunks.
 */
export function upstreamHeaders(rawHeaders: readonly string[], host: string, upgrade?: string): string[] {
  const named = valuesOf(rawHeaders, 'connection').flatMap(value => value.toLowerCase().split(/\s*,\s*/))
  const kept = pairsOf(rawHeaders).filter(([key]) => {
    const name = key.toLowerCase()
    if (name === 'transfer-encoding') return true
    // `_` and `-` are one to many servers.
    const plain = name.replaceAll('_', '-')
    return !hopByHop.includes(name) && !named.includes(name) && !identities.test(plain) && name !== 'host'
  })
  const upgrading = upgrade === undefined ? [] : ['Connection', 'Upgrade', 'Upgrade', upgrade]
  return ['Host', host, ...kept.flat(), ...upgrading]
}

/** The headers of an answer that go back. */
export function answerHeaders(rawHeaders: readonly string[]): string[] {
  return pairsOf(rawHeaders)
    .filter(([key]) => !hopByHop.includes(key.toLowerCase()))
    .flat()
}

function pairsOf(rawHeaders: readonly string[]): [name: string, value: string][] {
  return Array.from({ length: rawHeaders.length / 2 }, (_, index) => [
    rawHeaders[2 * index] ?? '',
    rawHeaders[2 * index + 1] ?? '',
  ])
}
