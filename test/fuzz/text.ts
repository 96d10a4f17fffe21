/** Words, names and numbers, well-formed ones and those that parsers stumble over. */
import type { Chance } from './chance.ts'

const names = [
  'a',
  'b',
  'default',
  'kube-system',
  'worker-1',
  'x.y',
  'kube-root-ca.crt',
  'system:node',
  'csr-1',
]
const odd = [
  '',
  '.',
  '..',
  '%',
  '%2e%2e',
  '%00',
  '\0',
  '\ud800',
  '\u202e',
  'é',
  '😀',
  '__proto__',
  'constructor',
  'hasOwnProperty',
  '-',
  'A',
  '../../etc/passwd',
  'a'.repeat(254),
  'x'.repeat(5000),
  "'",
  '"',
  '\\',
  '$ref',
  '{}',
  ' ',
  '\n',
]
const numbers = [0, 1, -1, 2, 63, 500, 2 ** 31, 2 ** 32, 2 ** 53, -(2 ** 53), 1e308, -0, 0.5, 1e21]

export const name = (chance: Chance) => (chance.maybe(0.85) ? chance.pick(names) : chance.pick(odd))
export const word = (chance: Chance) =>
  chance.maybe(0.5)
    ? chance.pick(odd)
    : chance.maybe(0.5)
      ? chance.pick(names)
      : Array.from({ length: chance.below(40) }, () => String.fromCharCode(32 + chance.below(95))).join('')
export const number = (chance: Chance) =>
  chance.maybe(0.6) ? chance.pick(numbers) : chance.below(1_000_000) - 500_000
export const numeral = (chance: Chance) =>
  chance.pick([
    String(number(chance)),
    '007',
    '+1',
    '1e3',
    '0x10',
    '9223372036854775807',
    '9223372036854775808',
    '-9223372036854775809',
    'NaN',
    '',
  ])
