const short: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '\x07': '\\a',
  '\b': '\\b',
  '\f': '\\f',
  '\n': '\\n',
  '\r': '\\r',
  '\t': '\\t',
  '\v': '\\v',
}

const hexadecimal = (value: number, digits: number) => value.toString(16).padStart(digits, '0')

function escaped(character: string): string {
  const known = short[character]
  if (known) return known
  const code = character.codePointAt(0) ?? 0
  if (code < 0x80) return `\\x${hexadecimal(code, 2)}`
  return code > 0xffff ? `\\U${hexadecimal(code, 8)}` : `\\u${hexadecimal(code, 4)}`
}

/** A text as Go's `%q` prints it, which Kubernetes' messages use: control characters cannot forge a second log line. */
export function quoted(text: string): string {
  return `"${text.replace(/["\\]|[^\p{L}\p{M}\p{N}\p{P}\p{S} ]/gu, escaped)}"`
}

/** A list of texts as Go's `%q` prints it, e.g. `["a" "b"]`. */
export function quotedList(texts: readonly string[]): string {
  return `[${texts.map(quoted).join(' ')}]`
}
