import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { readJsonLines } from './json-lines.ts'

async function* cut(bytes: Uint8Array, borders: number[]): AsyncGenerator<Uint8Array> {
  let start = 0
  for (const border of [...borders.map(at => at % (bytes.length + 1)).sort((a, b) => a - b), bytes.length]) {
    yield bytes.slice(start, border)
    start = border
  }
}

async function collect(values: AsyncIterable<unknown>): Promise<unknown[]> {
  const all: unknown[] = []
  for await (const value of values) all.push(value)
  return all
}

const encode = (text: string) => new TextEncoder().encode(text)

test('values come out the same wherever the chunks are cut, also within a character', async () => {
  const values = fc.array(fc.record({ type: fc.string({ unit: 'grapheme' }), object: fc.jsonValue() }))
  await fc.assert(
    fc.asyncProperty(values, fc.array(fc.nat()), fc.boolean(), async (sent, borders, lastNewline) => {
      const lines = sent.map(value => JSON.stringify(value)).join('\n') + (lastNewline ? '\n' : '')
      const seen = await collect(readJsonLines(cut(encode(lines), borders)))
      assert.deepEqual(seen, JSON.parse(JSON.stringify(sent)))
    }),
  )
})

test('a body that ends within a value is an error after the whole values', async () => {
  const seen: unknown[] = []
  await assert.rejects(
    async () => {
      for await (const value of readJsonLines(cut(encode('{"a":1}\n{"b"'), [3]))) seen.push(value)
    },
    error => hasCode(error, 'API_UNREACHABLE'),
  )
  assert.deepEqual(seen, [{ a: 1 }])
})

test('blank lines between values are skipped', async () => {
  assert.deepEqual(await collect(readJsonLines(cut(encode('\n1\r\n\n2'), []))), [1, 2])
})
