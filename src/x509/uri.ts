/** Whether Go's crypto/x509 takes the text as a URI SAN: url.Parse must succeed and a host must be a domain name. */
export function isUriOfGo(text: string): boolean {
  if (/[\u0000-\u001f\u007f]/.test(text)) return false
  const [beforeFragment = '', fragment] = splitOnce(text, '#')
  if (fragment !== undefined && !hasValidEscapes(fragment)) return false
  if (text === '*') return true
  const scheme = /^[A-Za-z][A-Za-z0-9+\-.]*:/.exec(beforeFragment)?.[0] ?? ''
  if (scheme === '' && beforeFragment.startsWith(':')) return false
  const [rest = ''] = splitOnce(beforeFragment.slice(scheme.length), '?')
  if (!rest.startsWith('/')) return scheme !== '' || isRelativePath(rest)
  if (!rest.startsWith('//') || (scheme === '' && rest.startsWith('///'))) return hasValidEscapes(rest)
  const authority = /^\/\/([^/]*)/.exec(rest)?.[1] ?? ''
  return isAuthority(authority) && hasValidEscapes(rest.slice(2 + authority.length))
}

/** A path that follows no scheme: a colon in its first segment would be read as one. */
function isRelativePath(path: string): boolean {
  return !(path.split('/')[0] ?? '').includes(':') && hasValidEscapes(path)
}

function isAuthority(authority: string): boolean {
  const at = authority.lastIndexOf('@')
  const userinfo = at < 0 ? '' : authority.slice(0, at)
  if (!/^[A-Za-z0-9\-._:~!$&'()*+,;=%@]*$/.test(userinfo) || !hasValidEscapes(userinfo)) return false
  const host = authority.slice(at + 1)
  if (host === '') return true
  const [name = '', port = ''] = splitOnce(host, ':')
  return isHostOfGo(name) && /^[0-9]*$/.test(port)
}

/**
 * The characters url.Parse allows in a host, and Go's domainNameValid: no empty label, so neither leading nor trailing
 * dot. Stricter than Go: an address in brackets is not a domain, which RFC 5280 asks for in a URI name.
 */
function isHostOfGo(host: string): boolean {
  return /^[A-Za-z0-9\-_~!$&'()*+,;=<>".]+$/.test(host) && host.split('.').every(label => label !== '')
}

function hasValidEscapes(text: string): boolean {
  return !/%(?![0-9A-Fa-f]{2})/.test(text)
}

function splitOnce(text: string, separator: string): [string, string | undefined] {
  const at = text.indexOf(separator)
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + separator.length)]
}
