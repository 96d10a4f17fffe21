import type { ApiResponse } from '../kube/transport.ts'
import { pageNotFound, text } from './response.ts'

/** Named checks of the server's health: undefined when well, else why not (for the log; clients are not told). */
export type HealthChecks = Readonly<Record<string, () => string | undefined>>

const endpoints = ['healthz', 'livez', 'readyz']

/**
 * /healthz, /livez, /readyz, with `?verbose` and `?exclude=NAME`, and each check by itself as /readyz/NAME: Kubernetes'
 * texts. Undefined for other paths.
 */
export function health(path: string, query: URLSearchParams, checks: HealthChecks): ApiResponse | undefined {
  const [, endpoint = '', name, ...more] = path.split('/')
  if (!endpoints.includes(endpoint)) return undefined
  if (name) {
    const check = Object.hasOwn(checks, name) ? checks[name] : undefined
    if (!check || more.length > 0) return pageNotFound()
    return check() === undefined ? text(200, 'ok') : text(500, 'internal server error: reason withheld\n')
  }
  return all(endpoint, query, checks)
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
