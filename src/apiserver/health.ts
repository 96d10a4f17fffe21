import type { ApiResponse } from '../kube/transport.ts'
import { pageNotFound, text } from './response.ts'

/** Named checks of the server's health: undefined when well, else why not (for the log; clients are not told). */
export type HealthChecks = Readonly<Record<string, () => string | undefined>>

/** By endpoint: who is not ready gets no requests, who is not alive is started again. */
export type Health = Readonly<Record<'healthz' | 'livez' | 'readyz', HealthChecks>>

const isEndpoint = (name: string): name is keyof Health =>
  name === 'healthz' || name === 'livez' || name === 'readyz'

/**
 * /healthz, /livez, /readyz, with `?verbose` and `?exclude=NAME`, and each check by itself as /readyz/NAME (a name may
 * have slashes): Kubernetes' texts. Undefined for other paths.
 */
export function health(path: string, query: URLSearchParams, checks: Health): ApiResponse | undefined {
  const [, endpoint = '', ...rest] = path.split('/')
  if (!isEndpoint(endpoint)) return undefined
  const name = rest.join('/')
  if (!name) return all(endpoint, query, checks[endpoint])
  const check = Object.hasOwn(checks[endpoint], name) ? checks[endpoint][name] : undefined
  if (!check) return pageNotFound()
  return check() === undefined ? text(200, 'ok') : text(500, 'internal server error: reason withheld\n')
}

function all(endpoint: string, query: URLSearchParams, checks: HealthChecks): ApiResponse {
  const excluded = query.getAll('exclude')
  const lines: string[] = []
  let failed = false
  for (const [name, check] of Object.entries(checks)) {
    if (excluded.includes(name)) lines.push(`[+]${name} excluded: ok`)
    else if (check() === undefined) lines.push(`[+]${name} ok`)
    else {
      failed = true
      lines.push(`[-]${name} failed: reason withheld`)
    }
  }
  const report = lines.map(line => `${line}\n`).join('')
  if (failed) return text(500, `${report}${endpoint} check failed\n`)
  return text(200, query.has('verbose') ? `${report}${endpoint} check passed\n` : 'ok')
}
