/** Fields that a JSON text names twice in one object; JSON.parse keeps the last one and does not tell. */

/** Paths like `spec.usages` or `spec.rules[0].name`, in order of appearance. `text` must be valid JSON. */
export function duplicateFields(text: string): string[] {
  const found: string[] = []
  let at = 0

  const skipSpace = () => {
    while (at < text.length && ' \t\n\r'.includes(text.charAt(at))) at++
  }
  const readString = (): string => {
    const start = at++
    while (text[at] !== '"') at += text[at] === '\\' ? 2 : 1
    at++
    return text.slice(start, at)
  }
  const readValue = (path: string): void => {
    skipSpace()
    const first = text[at]
    if (first === '{') readObject(path)
    else if (first === '[') readList(path)
    else if (first === '"') readString()
    else while (at < text.length && !',]} \t\n\r'.includes(text.charAt(at))) at++
    skipSpace()
  }
  const readObject = (path: string): void => {
    const names = new Set<string>()
    at++
    skipSpace()
    while (text[at] !== '}') {
      const name = JSON.parse(readString()) as string
      const field = path ? `${path}.${name}` : name
      if (names.has(name)) found.push(field)
      names.add(name)
      skipSpace()
      at++ // the colon
      readValue(field)
      if (text[at] === ',') at++
      skipSpace()
    }
    at++
  }
  const readList = (path: string): void => {
    at++
    skipSpace()
    for (let index = 0; text[at] !== ']'; index++) {
      readValue(`${path}[${index}]`)
      if (text[at] === ',') at++
      skipSpace()
    }
    at++
  }

  readValue('')
  return [...new Set(found)]
}
