/** Messages whose JSON form is not an object of their fields: times, quantities, raw JSON, wrapped lists. */
import { malformed, textOf, WireReader } from './wire.ts'

/** The JSON value, or undefined where Go's zero value is left out of JSON. */
type Convert = (bytes: Uint8Array) => unknown

/** Calls `take` for each field; `take` returns false for a field it does not know, which is skipped. */
function eachField(
  bytes: Uint8Array,
  take: (field: number, wireType: string, reader: WireReader) => boolean,
) {
  const reader = new WireReader(bytes)
  while (!reader.done) {
    const { field, wireType } = reader.tag()
    if (!take(field, wireType, reader)) reader.skip(wireType)
  }
}

/** Years 1 to 9999, which is what RFC 3339 can write. */
const firstSecond = -62_135_596_800
const lastSecond = 253_402_300_799

function secondsAndNanos(bytes: Uint8Array): { seconds: number; nanos: number } | undefined {
  if (bytes.length === 0) return undefined
  let seconds = 0
  let nanos = 0
  eachField(bytes, (field, wireType, reader) => {
    if (wireType !== 'varint') return false
    if (field === 1) seconds = reader.integer()
    else if (field === 2) nanos = reader.integer()
    else return false
    return true
  })
  if (seconds < firstSecond || seconds > lastSecond || nanos < 0 || nanos > 999_999_999) {
    throw malformed('proto: a time is out of range')
  }
  // Go's zero time, which JSON shows as null.
  return seconds === firstSecond && nanos === 0 ? undefined : { seconds, nanos }
}

const wholeSeconds = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19)

function time(bytes: Uint8Array): string | undefined {
  const at = secondsAndNanos(bytes)
  return at && `${wholeSeconds(at.seconds)}Z`
}

/** Exactly six digits of fraction: other readers refuse anything else. */
function microTime(bytes: Uint8Array): string | undefined {
  const at = secondsAndNanos(bytes)
  return at && `${wholeSeconds(at.seconds)}.${String(Math.floor(at.nanos / 1000)).padStart(6, '0')}Z`
}

function quantity(bytes: Uint8Array): string {
  let text = ''
  eachField(bytes, (field, wireType, reader) => {
    if (field !== 1 || wireType !== 'bytes') return false
    text = textOf(reader.bytes())
    return true
  })
  return text === '' ? '0' : text
}

function intOrString(bytes: Uint8Array): number | string {
  let isString = false
  let number = 0
  let text = ''
  eachField(bytes, (field, wireType, reader) => {
    if (field === 1 && wireType === 'varint') isString = reader.integer() === 1
    else if (field === 2 && wireType === 'varint') number = reader.integer()
    else if (field === 3 && wireType === 'bytes') text = textOf(reader.bytes())
    else return false
    return true
  })
  return isString ? text : number
}

/** FieldsV1 and RawExtension carry JSON as bytes in field 1. */
function rawJson(bytes: Uint8Array): unknown {
  let text: string | undefined
  eachField(bytes, (field, wireType, reader) => {
    if (field !== 1 || wireType !== 'bytes') return false
    text = textOf(reader.bytes())
    return true
  })
  if (text === undefined || text === '') return undefined
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch (cause) {
    throw malformed('proto: a raw field does not hold JSON', cause)
  }
  requireShallow(value, 0)
  return value
}

/** JSON.parse bears any depth, but what writes the object later does not. */
function requireShallow(value: unknown, depth: number): void {
  if (typeof value !== 'object' || value === null) return
  if (depth > 64) throw malformed('proto: the JSON of a raw field is nested deeper than 64 levels')
  for (const child of Object.values(value)) requireShallow(child, depth + 1)
}

function items(bytes: Uint8Array): string[] {
  const list: string[] = []
  eachField(bytes, (field, wireType, reader) => {
    if (field !== 1 || wireType !== 'bytes') return false
    list.push(textOf(reader.bytes()))
    return true
  })
  return list
}

const converters: Readonly<Record<string, Convert>> = {
  Time: time,
  MicroTime: microTime,
  Quantity: quantity,
  IntOrString: intOrString,
  FieldsV1: rawJson,
  RawExtension: rawJson,
  ExtraValue: items,
}

export function converterOf(type: string): Convert | undefined {
  return Object.hasOwn(converters, type) ? converters[type] : undefined
}
