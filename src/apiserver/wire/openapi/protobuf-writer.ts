/** Just enough of protobuf's wire format to write OpenAPI v2: strings, booleans and nested messages. */
export type Message = Uint8Array

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  for (; rest > 127; rest = Math.floor(rest / 128)) bytes.push((rest % 128) | 128)
  return [...bytes, rest]
}

/** A field of length-delimited bytes: a string or a message. */
export function field(number: number, content: string | Message): Message {
  const body = typeof content === 'string' ? Buffer.from(content) : content
  return Buffer.concat([Buffer.from([...varint(number * 8 + 2), ...varint(body.length)]), body])
}

export function booleanField(number: number, value: boolean): Message {
  return Buffer.from([...varint(number * 8), value ? 1 : 0])
}

/** A message of its fields; absent ones are left out. */
export function message(...fields: (Message | undefined | readonly Message[])[]): Message {
  return Buffer.concat(
    fields.flatMap(one => (one === undefined ? [] : one instanceof Uint8Array ? [one] : one)),
  )
}
