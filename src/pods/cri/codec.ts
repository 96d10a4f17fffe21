/** Protobuf to and from plain objects, by the table of messages.ts. */
import { textOf, WireReader, type WireType } from '../../kube/protobuf/wire.ts'
import { type Field, messageNamed } from './messages.ts'

type Plain = Record<string, unknown>

const nanosInMillisecond = 1_000_000n
const wireVarint = 0
const wireBytes = 2
const utf8 = new TextEncoder()

/** The bytes of a message. Fields that are absent, or hold their type's zero, are left out, as proto3 does. */
export function encode(message: string, value: object): Uint8Array {
  const out: number[] = []
  writeMessage(out, message, value as Plain)
  return Uint8Array.from(out)
}

function writeMessage(out: number[], message: string, value: Plain): void {
  for (const field of messageNamed(message)) {
    const item = value[field.name]
    if (item === undefined) continue
    if (field.shape === 'single') writeSingle(out, field, item)
    else if (field.shape === 'map') {
      for (const [key, text] of Object.entries(item as Record<string, string>))
        writeBytes(out, field.number, encode('KeyValue', { key, value: text }))
    } else if (field.type === 'int') {
      const packed: number[] = []
      for (const number of item as number[]) writeVarint(packed, BigInt(number))
      if (packed.length > 0) writeBytes(out, field.number, packed)
    } else for (const one of item as unknown[]) writeBytes(out, field.number, bytesOf(field.type, one))
  }
}

function writeSingle(out: number[], { number, type }: Field, item: unknown): void {
  if (type === 'int' || type === 'bool') {
    if (!item) return
    writeVarint(out, BigInt(number * 8 + wireVarint))
    writeVarint(out, BigInt(Number(item)))
    return
  }
  // A message is written even when it is empty: an Int64Value of 0 is user 0, none at all is the image's user.
  if (item !== '') writeBytes(out, number, bytesOf(type, item))
}

function bytesOf(type: string, item: unknown): ArrayLike<number> {
  if (type === 'string') return utf8.encode(item as string)
  return type === 'bytes' ? (item as Uint8Array) : encode(type, item as Plain)
}

function writeBytes(out: number[], number: number, bytes: ArrayLike<number>): void {
  writeVarint(out, BigInt(number * 8 + wireBytes))
  writeVarint(out, BigInt(bytes.length))
  for (let at = 0; at < bytes.length; at++) out.push(bytes[at] ?? 0)
}

function writeVarint(out: number[], value: bigint): void {
  let left = BigInt.asUintN(64, value)
  for (; left >= 0x80n; left >>= 7n) out.push(Number(left & 0x7fn) | 0x80)
  out.push(Number(left))
}

/**
 * A message as an object with all its fields: what the bytes leave out is '', 0, false, [] or {}; a message that they leave
 * out is undefined. Throws RollcallError PROTOBUF_MALFORMED.
 */
export function decode<T>(message: string, bytes: Uint8Array): T {
  const fields = messageNamed(message)
  const result: Plain = Object.fromEntries(fields.map(field => [field.name, emptyOf(field)]))
  const reader = new WireReader(bytes)
  while (!reader.done) {
    const { field: number, wireType } = reader.tag()
    const field = fields.find(field => field.number === number)
    if (field) readField(result, field, wireType, reader)
    else reader.skip(wireType)
  }
  return result as T
}

function emptyOf({ shape, type }: Field): unknown {
  if (shape !== 'single') return shape === 'list' ? [] : {}
  const empty: Record<string, unknown> = {
    string: '',
    int: 0,
    nanos: 0,
    bool: false,
    bytes: new Uint8Array(),
  }
  return empty[type]
}

function readField(result: Plain, field: Field, wireType: WireType, reader: WireReader): void {
  if (field.shape === 'single') result[field.name] = readValue(field.type, wireType, reader)
  else if (field.shape === 'list') {
    const list = result[field.name] as unknown[]
    if (field.type !== 'int' || wireType !== 'bytes') list.push(readValue(field.type, wireType, reader))
    else for (const packed = new WireReader(reader.bytes()); !packed.done; ) list.push(packed.integer())
  } else {
    const { key, value } = decode<{ key: string; value: string }>('KeyValue', reader.bytes())
    // Assigning `__proto__` would give the object a new prototype.
    if (key !== '__proto__') (result[field.name] as Record<string, string>)[key] = value
  }
}

function readValue(type: string, wireType: WireType, reader: WireReader): unknown {
  const expected = type === 'int' || type === 'bool' || type === 'nanos' ? 'varint' : 'bytes'
  if (wireType !== expected) {
    reader.skip(wireType)
    return emptyOf({ name: '', number: 0, shape: 'single', type })
  }
  if (type === 'nanos') return Number(BigInt.asIntN(64, reader.varint()) / nanosInMillisecond)
  if (type === 'int') return reader.integer()
  if (type === 'bool') return reader.boolean()
  if (type === 'string') return textOf(reader.bytes())
  return type === 'bytes' ? reader.bytes() : decode(type, reader.bytes())
}
