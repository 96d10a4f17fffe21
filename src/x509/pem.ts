import { BoundedCache } from './bounded-cache.ts'
import { malformed } from './malformed.ts'

/** One PEM block. `headers`: it carries RFC 1421 headers (`Proc-Type: …`), which Kubernetes refuses in places. */
export interface PemBlock {
  label: string
  headers: boolean
  bytes: Uint8Array
}

/** BEGIN line, headers with the empty line after them, base64 lines, END line of the same label. */
const block =
  /(?:^|\n)-----BEGIN ([^\r\n]*?)-----[ \t\r]*\n((?:[^\r\n:]+:[^\n]*\n)*)((?:[A-Za-z0-9+/= \t\r]*\n)*?)-----END \1-----[ \t\r]*(?=\n|$)/g

/**
 * Every PEM block of the text, in order, as Go's pem.Decode would find them one after the other: text before, between and
 * after blocks is skipped, and so is what looks like a block but is not one (wrong END line, bad base64).
 */
export function decodePem(text: string): PemBlock[] {
  const blocks: PemBlock[] = []
  for (const [, label = '', headers = '', body = ''] of text.matchAll(block)) {
    const bytes = decodeBase64(body)
    if (bytes !== undefined) blocks.push({ label, headers: headers !== '', bytes })
  }
  return blocks
}

/** Characters. What is longer is no request and no leaf, and is not worth the memory. */
const longestRemembered = 8192
const remembered = new BoundedCache<readonly PemBlock[]>(1000)

/**
 * `decodePem` for what the API, the approver, the signer and the survey each look at in turn: the same text gives the
 * same blocks, whose parsed form is then shared too. For public texts: never a key.
 */
export function decodePemOnce(text: string): readonly PemBlock[] {
  if (text.length > longestRemembered) return decodePem(text)
  return remembered.getOrCompute(text, () => decodePem(text))
}

/** What `decodePemOnce` gives for a text that was just made. */
export function rememberPem(text: string, label: string, bytes: Uint8Array): void {
  if (text.length <= longestRemembered) remembered.put(text, [{ label, headers: false, bytes }])
}

/** The single block with this label. Throws X509_MALFORMED when the first block is another or there is none. */
export function decodeOnePem(text: string, label: string, decode = decodePemOnce): Uint8Array {
  const [first] = decode(text)
  if (first === undefined) throw malformed(`PEM (${label})`, 0, 'no PEM block found')
  if (first.label !== label) throw malformed('PEM', 0, `the block is ${first.label}, expected ${label}`)
  return first.bytes
}

/** The block in PEM: 64 columns, `\n` line ends, trailing newline. */
export function encodePem(label: string, der: Uint8Array): string {
  const body = Buffer.from(der.buffer, der.byteOffset, der.length).toString('base64')
  let text = `-----BEGIN ${label}-----\n`
  for (let at = 0; at < body.length; at += 64) text += `${body.slice(at, at + 64)}\n`
  return `${text}-----END ${label}-----\n`
}

/** Standard base64 with padding, as Go's decoder takes it: line ends are ignored, anything else is not base64. */
function decodeBase64(body: string): Uint8Array | undefined {
  const text = body.replace(/[\r\n\t ]/g, '')
  if (text.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(text)) return undefined
  return new Uint8Array(Buffer.from(text, 'base64'))
}
