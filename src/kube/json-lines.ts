import { RollcallError } from '../errors.ts'

/** Characters; a watch event of etcd's largest object (1.5 MiB) fits many times. */
const LONGEST_LINE = 32 * 1024 * 1024

/**
 * Reads a watch body: one JSON value a line, cut into chunks anywhere, also within a UTF-8 sequence.
 * Throws RollcallError API_UNREACHABLE when a line is not JSON, the body ends within a line, or a line has no end.
 */
export async function* readJsonLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<unknown> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const chunk of chunks) {
    const text = decoder.decode(chunk, { stream: true })
    let start = 0
    for (let end = text.indexOf('\n'); end !== -1; end = text.indexOf('\n', start)) {
      const line = rest + text.slice(start, end)
      rest = ''
      start = end + 1
      if (line.trim() !== '') yield parse(line)
    }
    rest += text.slice(start)
    if (rest.length > LONGEST_LINE) throw broken('an event is longer than 32 MiB')
  }
  rest += decoder.decode()
  if (rest.trim() !== '') yield parse(rest)
}

function parse(line: string): unknown {
  try {
    return JSON.parse(line)
  } catch (cause) {
    throw broken('the stream ended within an event, or sent something that is not JSON', cause)
  }
}

function broken(what: string, cause?: unknown): RollcallError {
  return new RollcallError('API_UNREACHABLE', `the watch broke: ${what}`, {}, { cause })
}
