/** Which user the Impersonate-* headers ask for, before anybody has agreed. */

import { apiError } from '../../wire/api-error.ts'
import { quoted } from '../go-quote.ts'

export interface ImpersonationRequest {
  user: string
  uid: string
  groups: string[]
  /** Keys in lower case, percent-decoded. */
  extra: Map<string, string[]>
}

const extraPrefix = 'impersonate-extra-'

/**
 * The values of a header that may be repeated, which the HTTP adapter (http/impersonation-values.ts) joins by a newline:
 * no value can hold one, while a comma may belong to a name like `CN=a, O=b`.
 */
function repeatedValues(joined: string): string[] {
  return joined.split('\n')
}

function decoded(key: string): string {
  try {
    return decodeURIComponent(key)
  } catch {
    // A key that is no percent-encoding is taken as it stands, as in Kubernetes.
    return key
  }
}

/** undefined where nobody is to be impersonated. Throws ApiError 400 for groups, uid or extra without a user. */
export function impersonationRequested(
  headers: Readonly<Record<string, string>>,
): ImpersonationRequest | undefined {
  const user = headers['impersonate-user'] ?? ''
  const uid = headers['impersonate-uid'] ?? ''
  const group = headers['impersonate-group']
  const groups = group === undefined ? [] : repeatedValues(group)
  const extra = new Map<string, string[]>()
  for (const [name, value] of Object.entries(headers)) {
    if (name.startsWith(extraPrefix)) {
      const key = decoded(name.slice(extraPrefix.length).toLowerCase())
      extra.set(key, [...(extra.get(key) ?? []), ...repeatedValues(value)])
    }
  }
  if (user !== '') return { user, uid, groups, extra }
  if (uid === '' && groups.length === 0 && extra.size === 0) return undefined
  throw apiError.badRequest(
    `requested ${goSyntax({ user, uid, groups, extra })} without impersonating a user name`,
  )
}

const goList = (values: readonly string[]) => `[]string{${values.map(quoted).join(', ')}}`

/** The request as Go's `%#v` prints a user.DefaultInfo. */
function goSyntax({ uid, groups, extra }: ImpersonationRequest): string {
  const entries = [...extra].sort().map(([key, values]) => `${quoted(key)}:${goList(values)}`)
  const extras =
    entries.length > 0 ? `map[string][]string{${entries.join(', ')}}` : 'map[string][]string(nil)'
  const list = groups.length > 0 ? goList(groups) : '[]string(nil)'
  return `&user.DefaultInfo{Name:"", UID:${quoted(uid)}, Groups:${list}, Extra:${extras}}`
}
