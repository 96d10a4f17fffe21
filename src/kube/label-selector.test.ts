import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../errors.ts'
import { matchesLabels, parseLabelSelector } from './label-selector.ts'

const matching: [selector: string, labels: Record<string, string>, matches: boolean][] = [
  ['', { a: 'b' }, true],
  ['a=b', { a: 'b' }, true],
  ['a==b', { a: 'c' }, false],
  ['a!=b', {}, true],
  ['a != b', { a: 'b' }, false],
  ['a', { a: '' }, true],
  ['!a', { a: '' }, false],
  ['! a', {}, true],
  ['a in (b, c)', { a: 'c' }, true],
  ['a in (b,c)', {}, false],
  ['a notin (b,c)', {}, true],
  ['a notin (b,c)', { a: 'b' }, false],
  ['a in (,)', { a: '' }, true],
  ['a=', { a: '' }, true],
  ['a=,c=d', { a: '', c: 'd' }, true],
  ['in in (in)', { in: 'in' }, true],
  ['n>9', { n: '10' }, true],
  ['n<9', { n: '10' }, false],
  ['n>9', { n: 'x' }, false],
  ['kubernetes.io/hostname=a,kubernetes.io/os=linux', { 'kubernetes.io/hostname': 'a' }, false],
  ['constructor', {}, false],
]

test('a label selector selects what Kubernetes would select', () => {
  for (const [selector, labels, expected] of matching) {
    assert.equal(matchesLabels(parseLabelSelector(selector), labels), expected, selector)
  }
})

const refused: [selector: string, message: string][] = [
  [',a', `found ',', expected: !, identifier, or 'end of string'`],
  ['a,', `found '', expected: identifier after ','`],
  ['a b', `unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt`],
  ['a=b c', `found 'c', expected: ',' or 'end of string'`],
  ['a in b', `unable to parse requirement: found 'b' expected: '('`],
  ['a in (b', `unable to parse requirement: found '', expected: ',' or ')'`],
  ['!', `unable to parse requirement: found '', expected: identifier`],
  ['a=(', `unable to parse requirement: found '(', expected: identifier`],
]

test('a label selector that does not parse is refused with the text of Kubernetes', () => {
  for (const [selector, message] of refused) {
    assert.throws(
      () => parseLabelSelector(selector),
      error => hasCode(error, 'SELECTOR_INVALID') && error.message === message,
      selector,
    )
  }
})

test('keys, values, empty sets and bounds that are no labels are refused', () => {
  for (const selector of ['-a=b', 'a=-', 'a in ()', 'a>x', 'a/b/c', `a=${'x'.repeat(64)}`, '/a']) {
    assert.throws(() => parseLabelSelector(selector), /unable to parse requirement/, selector)
  }
})

test('no text makes the parser fail in another way than its own error', () => {
  const words = fc.constantFrom('a', 'in', 'notin', '(', ')', ',', '=', '!', '==', '>', ' ', 'x/y', '-')
  fc.assert(
    fc.property(
      fc.oneof(
        fc.string(),
        fc.array(words).map(list => list.join('')),
      ),
      text => {
        try {
          parseLabelSelector(text)
        } catch (error) {
          assert.ok(hasCode(error, 'SELECTOR_INVALID'), String(error))
        }
      },
    ),
  )
})
