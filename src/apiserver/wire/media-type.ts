/** The Accept header: media types with parameters, in the order in which the client wants them. */
export interface MediaType {
  /** Lower case, e.g. `application/json`. */
  type: string
  /** Names in lower case; `q` is taken out. */
  parameters: Readonly<Record<string, string>>
}

function parse(text: string): MediaType & { quality: number } {
  const [type = '', ...rest] = text.split(';').map(part => part.trim())
  const parameters: Record<string, string> = Object.create(null)
  let quality = 1
  for (const part of rest) {
    const [name = '', value = ''] = part.split('=', 2).map(side => side.trim())
    const plain = value.replace(/^"(.*)"$/, '$1')
    if (name.toLowerCase() === 'q') quality = Number(plain)
    else parameters[name.toLowerCase()] = plain
  }
  return { type: type.toLowerCase(), parameters, quality: Number.isFinite(quality) ? quality : 0 }
}

/** Highest quality first, else as written; what has quality 0 is left out. A missing header is anything. */
export function acceptedTypes(header: string | undefined): MediaType[] {
  if (!header?.trim()) return [{ type: '*/*', parameters: {} }]
  return header
    .split(',')
    .map(parse)
    .filter(accepted => accepted.quality > 0)
    .sort((left, right) => right.quality - left.quality)
}

export function isJson({ type }: MediaType): boolean {
  return type === 'application/json' || type === 'application/*' || type === '*/*'
}
