/**
 * The token of an Authorization header, or undefined where it holds none: another scheme, no token, or a space before it.
 * All of those count as no credential, as in Kubernetes, and what follows a second space is ignored.
 */
export function bearerToken(authorization: string | undefined): string | undefined {
  const text = authorization?.trim() ?? ''
  const space = text.indexOf(' ')
  if (space !== 'bearer'.length || text.slice(0, space).toLowerCase() !== 'bearer') return undefined
  const end = text.indexOf(' ', space + 1)
  return text.slice(space + 1, end < 0 ? undefined : end) || undefined
}
