const prefix = 'impersonate-'
const single: readonly string[] = ['impersonate-user', 'impersonate-uid']

/**
 * The Impersonate-* headers of a request as the client sent them: Node joins repeated headers by `, `, which a group's
 * name may hold itself (`CN=a, O=b`), so here a newline joins them, which no value can hold. Of the two that name one
 * thing the first counts, as in Kubernetes. `raw`: names and values in turn.
 */
export function impersonationValues(raw: readonly string[]): Record<string, string> {
  const found: Record<string, string> = {}
  for (let at = 0; at + 1 < raw.length; at += 2) {
    const name = raw[at]?.toLowerCase() ?? ''
    const value = raw[at + 1] ?? ''
    if (!name.startsWith(prefix)) continue
    const before = Object.hasOwn(found, name) ? found[name] : undefined
    if (before === undefined) found[name] = value
    else if (!single.includes(name)) found[name] = `${before}\n${value}`
  }
  return found
}
