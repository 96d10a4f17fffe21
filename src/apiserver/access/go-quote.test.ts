import assert from 'node:assert/strict'
import { test } from 'node:test'
import { quoted, quotedList } from './go-quote.ts'

const cases: [text: string, quoted: string][] = [
  ['', '""'],
  ['a b', '"a b"'],
  ['"\\', '"\\"\\\\"'],
  ['\n\t\x07\x00\x7f', '"\\n\\t\\a\\x00\\x7f"'],
  ['é世🎉', '"é世🎉"'],
  ['\u00a0\u202e\u{e0001}', '"\\u00a0\\u202e\\U000e0001"'],
]
for (const [text, expected] of cases) {
  test(`${JSON.stringify(text)} is quoted as Go does`, () => {
    assert.equal(quoted(text), expected)
  })
}

test('A list is quoted in brackets, separated by spaces', () => {
  assert.equal(quotedList(['a', 'b"']), '["a" "b\\""]')
})
