/** Whether a request may come from where it says it comes. Pure; header names are lower case. */
import { isIP } from 'node:net'

export type OriginRefusal = { status: 403 | 421; message: string }

/**
 * Host must be an address or one of our names: DNS rebinding makes a foreign name point here, and an address is no name.
 * And a browser must say that the request is the page's own; programs send neither Origin nor Sec-Fetch-Site.
 * `hostnames`: without port, lower case.
 */
export function originRefusal(
  request: { method: string; path: string; headers: Readonly<Record<string, string>> },
  hostnames: ReadonlySet<string>,
): OriginRefusal | undefined {
  const { host = '', origin, 'sec-fetch-site': site } = request.headers
  const hostname = hostnameOf(host)
  if (!hostnames.has(hostname) && isIP(hostname.replace(/^\[(.*)\]$/, '$1')) === 0)
    return { status: 421, message: 'The dashboard is not served under this name; open it by its own link.' }
  if (origin !== undefined && hostOf(origin) !== host)
    return { status: 403, message: 'The dashboard answers its own page only, not that of another origin.' }
  if (site !== undefined && site !== 'same-origin' && site !== 'none' && !isNavigation(request))
    return { status: 403, message: 'The dashboard answers its own page only, not that of another site.' }
  return undefined
}

/** Somebody followed a link to the page itself: it holds nothing before its viewer logs in. */
function isNavigation({ method, path, headers }: Parameters<typeof originRefusal>[0]): boolean {
  return method === 'GET' && path === '/dashboard/' && headers['sec-fetch-dest'] === 'document'
}

function hostnameOf(host: string): string {
  return host.replace(/:\d{1,5}$/, '').toLowerCase()
}

function hostOf(origin: string): string | undefined {
  return /^https?:\/\/([^/?#@]+)$/.exec(origin)?.[1]
}
