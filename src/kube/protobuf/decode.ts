/**
 * Kubernetes' protobuf bodies to the JSON form of the same object. Only the way in: clients that send protobuf always
 * accept JSON answers (W-2). Table-driven; the JSON shape follows Go's encoding/json of the same types.
 */
import { Buffer } from 'node:buffer'
import type { KubeObject } from '../types.ts'
import { type Field, type Message, messageNamed, messageOfKind } from './schema.ts'
import { converterOf } from './well-known.ts'
import { malformed, textOf, WireReader, type WireType } from './wire.ts'

/** `k8s\0`, before runtime.Unknown. */
const magic = [0x6b, 0x38, 0x73, 0x00]

/** Deeper than any Kubernetes type nests. */
const maximumDepth = 64

type Decoded = Record<string, unknown>

const zeroes = new Set<unknown>(['', 0, false])

function wrongWireType(field: Field, wireType: WireType): Error {
  return malformed(`proto: wrong wireType = ${wireType} for field ${field.name}`)
}

function decodeScalar(field: Field, type: string, wireType: WireType, reader: WireReader): unknown {
  if (type === 'int' || type === 'bool') {
    if (wireType !== 'varint') throw wrongWireType(field, wireType)
    return type === 'bool' ? reader.boolean() : reader.integer()
  }
  if (wireType !== 'bytes') throw wrongWireType(field, wireType)
  const bytes = reader.bytes()
  return type === 'bytes'
    ? Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64')
    : textOf(bytes)
}

function isScalar(type: string): boolean {
  return type === 'string' || type === 'int' || type === 'bool' || type === 'bytes'
}

function decodeValue(
  field: Field,
  type: string,
  wireType: WireType,
  reader: WireReader,
  depth: number,
): unknown {
  if (isScalar(type)) return decodeScalar(field, type, wireType, reader)
  if (wireType !== 'bytes') throw wrongWireType(field, wireType)
  const bytes = reader.bytes()
  const convert = converterOf(type)
  if (convert) return convert(bytes)
  const message = messageNamed(type)
  if (!message) throw new Error(`protobuf table: the message ${type} is missing`)
  return decodeMessage(message, bytes, depth + 1)
}

function decodeMapEntry(field: Field, bytes: Uint8Array, depth: number): [string, unknown] {
  const reader = new WireReader(bytes)
  let key = ''
  let value: unknown
  while (!reader.done) {
    const { field: number, wireType } = reader.tag()
    if (number === 1) key = decodeScalar(field, 'string', wireType, reader) as string
    else if (number === 2) value = decodeValue(field, field.type, wireType, reader, depth)
    else reader.skip(wireType)
  }
  // Assigning `__proto__` would give the object a new prototype.
  if (key === '__proto__') throw malformed(`proto: the key "__proto__" is not allowed in ${field.name}`)
  if (value === undefined) value = isScalar(field.type) ? '' : field.type === 'Quantity' ? '0' : []
  return [key, value]
}

/** Adds to a list; whole numbers may come packed. */
function decodeItem(
  result: Decoded,
  field: Field,
  wireType: WireType,
  reader: WireReader,
  depth: number,
): void {
  const list = (result[field.name] as unknown[] | undefined) ?? []
  result[field.name] = list
  if (field.type !== 'int' || wireType !== 'bytes') {
    list.push(decodeValue(field, field.type, wireType, reader, depth))
    return
  }
  const packed = new WireReader(reader.bytes())
  while (!packed.done) list.push(packed.integer())
}

function decodeEntry(
  result: Decoded,
  field: Field,
  wireType: WireType,
  reader: WireReader,
  depth: number,
): void {
  if (wireType !== 'bytes') throw wrongWireType(field, wireType)
  const map = (result[field.name] as Decoded | undefined) ?? {}
  result[field.name] = map
  const [key, value] = decodeMapEntry(field, reader.bytes(), depth)
  map[key] = value
}

function decodeSingle(
  result: Decoded,
  field: Field,
  wireType: WireType,
  reader: WireReader,
  depth: number,
): void {
  const value = decodeValue(field, field.type, wireType, reader, depth)
  if (field.inline) Object.assign(result, value)
  // Go writes '' and 0 of fields that are no pointers; JSON leaves them out.
  else if (value !== undefined && (field.pointer || !zeroes.has(value))) result[field.name] = value
}

const decodeShape = { list: decodeItem, map: decodeEntry, single: decodeSingle }

function decodeMessage(message: Message, bytes: Uint8Array, depth: number): Decoded {
  if (depth > maximumDepth) throw malformed(`proto: nested deeper than ${maximumDepth} messages`)
  const reader = new WireReader(bytes)
  const result: Decoded = {}
  const seen = new Set<number>()
  while (!reader.done) {
    const { field: number, wireType } = reader.tag()
    const field = message.get(number)
    if (!field) {
      reader.skip(wireType)
      continue
    }
    // No encoder writes a single field twice, and readers differ in what it then means (last wins, or merged).
    if (field.shape === 'single' && seen.has(number)) {
      throw malformed(`proto: the field ${field.name} occurs twice`)
    }
    seen.add(number)
    decodeShape[field.shape](result, field, wireType, reader, depth)
  }
  return result
}

interface Unknown {
  apiVersion: string
  kind: string
  raw: Uint8Array
}

function decodeEnvelope(bytes: Uint8Array): Unknown {
  if (bytes.length < magic.length || magic.some((byte, at) => bytes[at] !== byte)) {
    throw malformed('provided data does not appear to be a protobuf message, expected prefix [107 56 115 0]')
  }
  const reader = new WireReader(bytes.subarray(magic.length))
  const unknown: Unknown = { apiVersion: '', kind: '', raw: new Uint8Array() }
  while (!reader.done) {
    const { field, wireType } = reader.tag()
    if (field === 1 && wireType === 'bytes') {
      const meta = new WireReader(reader.bytes())
      while (!meta.done) {
        const tag = meta.tag()
        if (tag.field === 1 && tag.wireType === 'bytes') unknown.apiVersion = textOf(meta.bytes())
        else if (tag.field === 2 && tag.wireType === 'bytes') unknown.kind = textOf(meta.bytes())
        else meta.skip(tag.wireType)
      }
    } else if (field === 2 && wireType === 'bytes') {
      unknown.raw = reader.bytes()
    } else if (field === 3 && wireType === 'bytes') {
      if (reader.bytes().length > 0) throw malformed('proto: an encoded content is not supported')
    } else reader.skip(wireType)
  }
  return unknown
}

/**
 * The object in its JSON form, `metadata` always there. Throws RollcallError PROTOBUF_MALFORMED (400) for bytes that are
 * truncated, over-long, too deep, no known kind, or otherwise not what an encoder writes. Time and memory are linear in
 * the length of the bytes.
 */
export function decodeKubernetesProtobuf(bytes: Uint8Array): KubeObject {
  const { apiVersion, kind, raw } = decodeEnvelope(bytes)
  const message = messageOfKind(apiVersion, kind)
  if (!message) throw malformed(`no kind "${kind}" is registered for version "${apiVersion}"`)
  const decoded = decodeMessage(message, raw, 0)
  return { kind, apiVersion, ...decoded, metadata: (decoded.metadata ?? {}) as KubeObject['metadata'] }
}
