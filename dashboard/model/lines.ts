/** Newline JSON as it comes, in whatever pieces. */
export function lineReader(onLine: (value: unknown) => void): (chunk: Uint8Array) => void {
  const decoder = new TextDecoder()
  let rest = ''
  return chunk => {
    const lines = (rest + decoder.decode(chunk, { stream: true })).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) if (line !== '') onLine(JSON.parse(line))
  }
}
