/** Kubernetes' protobuf envelope around fields that may or may not be the kind's. */
import { Buffer } from 'node:buffer'
import type { Chance } from './chance.ts'
import { word } from './text.ts'

const magic = Buffer.from('k8s\0')

function varint(value: number): number[] {
  const bytes: number[] = []
  let rest = value
  while (rest > 127) {
    bytes.push((rest & 127) | 128)
    rest = Math.floor(rest / 128)
  }
  return [...bytes, rest]
}

const field = (id: number, wireType: number) => varint(id * 8 + wireType)
const bytesField = (id: number, bytes: Uint8Array) =>
  Buffer.from([...field(id, 2), ...varint(bytes.length), ...bytes])

/** A message of random fields, some of them messages. */
function message(chance: Chance, depth: number): Buffer {
  return Buffer.concat(chance.some(6, () => randomField(chance, depth)))
}

function randomField(chance: Chance, depth: number): Buffer {
  const id = chance.maybe(0.95) ? 1 + chance.below(16) : chance.below(2 ** 29)
  const kind = chance.below(8)
  if (kind < 2) return Buffer.from([...field(id, 0), ...varint(chance.below(2 ** 31))])
  if (kind === 2) return Buffer.from([...field(id, 0), ...Array(chance.below(14)).fill(0xff), 1])
  if (kind === 3) return bytesField(id, Buffer.from(word(chance)))
  if (kind === 4) return Buffer.from([...field(id, chance.below(8)), ...chance.random.bytes(chance.below(9))])
  if (kind === 5) return Buffer.from([...field(id, 2), ...varint(chance.below(2 ** 31)), 1, 2, 3])
  return bytesField(id, depth > 0 ? message(chance, depth - 1) : Buffer.from(word(chance)))
}

export function protobufBody(chance: Chance, kind: string, apiVersion: string): Uint8Array {
  const meta = chance.maybe(0.9)
    ? Buffer.concat([bytesField(1, Buffer.from('a')), bytesField(2, Buffer.from('g'))])
    : message(chance, 2)
  const object = Buffer.concat([bytesField(1, meta), message(chance, 5)])
  const type = Buffer.concat([bytesField(1, Buffer.from(apiVersion)), bytesField(2, Buffer.from(kind))])
  const envelope = Buffer.concat([magic, bytesField(1, type), bytesField(2, object)])
  if (chance.maybe(0.1)) return bytesField(2, deep(chance.below(5000)))
  return damaged(chance, envelope, 0.3)
}

function deep(levels: number): Buffer {
  let inner: Buffer = Buffer.from([8, 1])
  for (let level = 0; level < levels && inner.length < 20_000; level++) inner = bytesField(1, inner)
  return inner
}

/** The bytes, with this probability cut, flipped or grown somewhere. */
export function damaged(chance: Chance, bytes: Uint8Array, probability: number): Uint8Array {
  let result = Buffer.from(bytes)
  if (!chance.maybe(probability)) return result
  for (let left = 1 + chance.below(4); left > 0; left--) {
    const at = chance.below(result.length + 1)
    const how = chance.below(4)
    if (how === 0) result = result.subarray(0, at)
    else if (how === 1 && at < result.length) result[at] = chance.below(256)
    else if (how === 2)
      result = Buffer.concat([
        result.subarray(0, at),
        chance.random.bytes(chance.below(8)),
        result.subarray(at),
      ])
    else result = Buffer.concat([result.subarray(0, at), result.subarray(at + chance.below(8))])
  }
  return result
}
