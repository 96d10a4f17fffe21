/** PKCS#11 URIs (RFC 7512): which key, in which token, behind which module, and where its PIN is. */
import { RollcallError } from '../../errors.ts'

export interface Pkcs11Uri {
  /** What the token must be; a member that is absent may be anything. */
  token: TokenMatch
  /** CKA_LABEL of the key. */
  object?: string
  /** CKA_ID of the key. */
  id?: Uint8Array
  /** Path of the PKCS#11 module, a shared library. */
  modulePath?: string
  /** Path of the file that holds the PIN. */
  pinSource?: string
}

export interface TokenMatch {
  label?: string
  serial?: string
  manufacturer?: string
  model?: string
}

export function isPkcs11Uri(text: string): boolean {
  return text.startsWith('pkcs11:')
}

const tokenMembers: Readonly<Record<string, keyof TokenMatch>> = {
  token: 'label',
  serial: 'serial',
  manufacturer: 'manufacturer',
  model: 'model',
}
/** Path attributes of RFC 7512 that choose a module or slot by what no two machines have alike. */
const notUsed = new Set([
  'library-manufacturer',
  'library-description',
  'library-version',
  'slot-description',
  'slot-manufacturer',
  'slot-id',
])

/**
 * Throws RollcallError KEY_URI_INVALID. A `pin-value` is refused: a command line and a process list are read by others.
 * So is a PIN from a command (`pin-source=|…`), which RFC 7512 (7) warns of.
 */
export function parsePkcs11Uri(text: string): Pkcs11Uri {
  if (!isPkcs11Uri(text)) throw invalid('it does not start with pkcs11:')
  const [path = '', query, ...more] = text.slice('pkcs11:'.length).split('?')
  if (more.length > 0) throw invalid('it has two question marks')
  const uri: Pkcs11Uri = { token: {} }
  for (const [name, raw] of attributes(path, ';')) readPathAttribute(uri, name, raw)
  for (const [name, raw] of attributes(query ?? '', '&')) readQueryAttribute(uri, name, raw)
  return uri
}

function readPathAttribute(uri: Pkcs11Uri, name: string, raw: string): void {
  const member = tokenMembers[name]
  if (member) uri.token[member] = decodeText(name, raw)
  else if (name === 'object') uri.object = decodeText(name, raw)
  else if (name === 'id') uri.id = decodeBytes(name, raw)
  else if (name === 'type') {
    if (raw !== 'private')
      throw invalid(`type=${raw} is no key that signs; write type=private or leave it out`)
  } else if (notUsed.has(name))
    throw invalid(`"${name}" is not supported; name the token by token= or serial=`)
  // RFC 7512, 2.4: an attribute nobody knows could be the one that tells two keys apart.
  else throw invalid(`"${name}" is no known attribute`)
}

function readQueryAttribute(uri: Pkcs11Uri, name: string, raw: string): void {
  switch (name) {
    case 'pin-value':
      throw invalid(
        'a PIN on the command line can be read by every user of the machine; put it into a file (mode 0600) and write pin-source=file:/path',
      )
    case 'pin-source':
      uri.pinSource = absolute(name, decodeText(name, raw).replace(/^file:(?:\/\/(?=\/))?/, ''))
      return
    case 'module-path':
      uri.modulePath = absolute(name, decodeText(name, raw).replace(/^file:(?:\/\/(?=\/))?/, ''))
      return
    case 'module-name':
      throw invalid('"module-name" is not supported; give module-path=/path/of/the/module.so')
    default:
      throw invalid(`"${name}" is no known attribute`)
  }
}

function absolute(name: string, path: string): string {
  if (path.startsWith('|')) throw invalid(`${name} is a command; only a file can hold the PIN`)
  if (!path.startsWith('/')) throw invalid(`${name} must be an absolute path`)
  return path
}

function* attributes(text: string, separator: string): Generator<[string, string]> {
  const seen = new Set<string>()
  for (const part of text.split(separator).filter(part => part !== '')) {
    const equals = part.indexOf('=')
    // The part itself is not quoted: it could be a PIN.
    if (equals < 1) throw invalid('an attribute is not of the form name=value')
    const name = part.slice(0, equals)
    if (seen.has(name)) throw invalid(`"${name}" is there twice`)
    seen.add(name)
    yield [name, part.slice(equals + 1)]
  }
}

const plain = /^[A-Za-z0-9\-._~:[\]@!$'()*+,=&/|]$/

function decodeBytes(name: string, raw: string): Uint8Array {
  const bytes: number[] = []
  for (let at = 0; at < raw.length; at++) {
    const character = raw.charAt(at)
    const hex = raw.slice(at + 1, at + 3)
    if (character === '%' && /^[0-9a-fA-F]{2}$/.test(hex)) {
      bytes.push(Number.parseInt(hex, 16))
      at += 2
    } else if (plain.test(character)) bytes.push(character.charCodeAt(0))
    else throw invalid(`the value of "${name}" holds a character that must be written as %XX`)
  }
  if (bytes.length === 0) throw invalid(`"${name}" is empty`)
  return Uint8Array.from(bytes)
}

function decodeText(name: string, raw: string): string {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(decodeBytes(name, raw))
  } catch (error) {
    if (error instanceof RollcallError) throw error
    throw invalid(`the value of "${name}" is no UTF-8`)
  }
}

/** The URI in RFC 7512's form, as `parsePkcs11Uri` reads it. */
export function formatPkcs11Uri({ token, object, id, modulePath, pinSource }: Pkcs11Uri): string {
  const path = [
    ...Object.entries(tokenMembers).map(([name, member]) => [name, token[member]]),
    ['object', object],
    ['id', id && Array.from(id, byte => `%${byte.toString(16).padStart(2, '0')}`).join('')],
  ]
  const query = [
    ['module-path', modulePath],
    ['pin-source', pinSource && `file:${pinSource}`],
  ]
  const join = (pairs: (string | undefined)[][], separator: string) =>
    pairs
      .flatMap(([name, value]) =>
        value === undefined ? [] : [`${name}=${name === 'id' ? value : encode(value)}`],
      )
      .join(separator)
  const tail = join(query, '&')
  return `pkcs11:${join(path, ';')}${tail && `?${tail}`}`
}

function encode(text: string): string {
  return Array.from(new TextEncoder().encode(text), byte => {
    const character = String.fromCharCode(byte)
    return /[A-Za-z0-9\-._~:/]/.test(character) ? character : `%${byte.toString(16).padStart(2, '0')}`
  }).join('')
}

const invalid = (why: string) =>
  new RollcallError('KEY_URI_INVALID', `the pkcs11: URI cannot be used: ${why}.`)
