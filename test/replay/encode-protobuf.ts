/** JSON of an object to Kubernetes' protobuf, by the tables that the API decodes with: what a client would send. */
import { type Field, type Message, messageNamed, messageOfKind } from '../../src/kube/protobuf/schema.ts'

function varint(value: number): Buffer {
  const bytes: number[] = []
  let rest = BigInt.asUintN(64, BigInt(value))
  for (; rest > 127n; rest >>= 7n) bytes.push(Number(rest & 127n) | 128)
  return Buffer.from([...bytes, Number(rest)])
}

const bytesField = (number: number, bytes: Uint8Array) =>
  Buffer.concat([varint(number * 8 + 2), varint(bytes.length), bytes])
const numberField = (number: number, value: number) => Buffer.concat([varint(number * 8), varint(value)])
const textField = (number: number, text: string) => bytesField(number, Buffer.from(text))

function time(text: string): Buffer {
  const [, fraction = '0'] = /\.(\d+)Z$/.exec(text) ?? []
  const seconds = Math.floor(Date.parse(text) / 1000)
  return Buffer.concat([numberField(1, seconds), numberField(2, Number(fraction.padEnd(9, '0')))])
}

/** Messages whose JSON is not an object of their fields. */
const wellKnown: Readonly<Record<string, (value: unknown) => Buffer>> = {
  Time: value => time(String(value)),
  MicroTime: value => time(String(value)),
  Quantity: value => textField(1, String(value)),
  IntOrString: value =>
    typeof value === 'number'
      ? numberField(2, value)
      : Buffer.concat([numberField(1, 1), textField(3, String(value))]),
  FieldsV1: value => textField(1, JSON.stringify(value)),
  ExtraValue: value => Buffer.concat((value as string[]).map(item => textField(1, item))),
}

function encodeValue(number: number, type: string, value: unknown): Buffer {
  switch (type) {
    case 'string':
      return textField(number, String(value))
    case 'bytes':
      return bytesField(number, Buffer.from(String(value), 'base64'))
    case 'int':
    case 'bool':
      return numberField(number, Number(value))
  }
  const convert = wellKnown[type]
  if (convert) return bytesField(number, convert(value))
  const message = messageNamed(type)
  if (!message) throw new Error(`no protobuf message ${type}`)
  return bytesField(number, encodeMessage(message, value as Record<string, unknown>))
}

function encodeField(number: number, field: Field, value: unknown): Buffer {
  switch (field.shape) {
    case 'single':
      return encodeValue(number, field.type, value)
    case 'list':
      return Buffer.concat((value as unknown[]).map(item => encodeValue(number, field.type, item)))
    case 'map':
      return Buffer.concat(
        Object.entries(value as object).map(([key, item]) =>
          bytesField(number, Buffer.concat([textField(1, key), encodeValue(2, field.type, item)])),
        ),
      )
  }
}

function encodeMessage(message: Message, object: Record<string, unknown>): Buffer {
  return Buffer.concat(
    [...message].flatMap(([number, field]) => {
      if (field.inline) {
        const inner = messageNamed(field.type)
        return inner ? [bytesField(number, encodeMessage(inner, object))] : []
      }
      const value = object[field.name]
      return value === undefined || value === null ? [] : [encodeField(number, field, value)]
    }),
  )
}

/** With the envelope that says what it is. */
export function encodeKubernetesProtobuf(object: Record<string, unknown>): Uint8Array {
  const { apiVersion, kind } = object as { apiVersion: string; kind: string }
  const message = messageOfKind(apiVersion, kind)
  if (!message) throw new Error(`no protobuf message for ${apiVersion} ${kind}`)
  const typeMeta = Buffer.concat([textField(1, apiVersion), textField(2, kind)])
  return Buffer.concat([
    Buffer.from('k8s\0'),
    bytesField(1, typeMeta),
    bytesField(2, encodeMessage(message, object)),
  ])
}
