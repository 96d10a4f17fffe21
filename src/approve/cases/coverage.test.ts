import assert from 'node:assert/strict'
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'

/** Ids of the case table for kubelet approvers. */
const ids: Record<string, string> = {
  A: '1 4 5 6 7 8 10 11 12 13 14 15 16',
  B: '4 5 6 7 8 11 12 13 14 17 18 19',
  C: '3 4 6 8 9 10 12',
  D: '1 3 5 7 11',
  E: '1 2 3 7 8 9 10 13 14 16 17 18 19 20 21 24',
  F: '1 3 4 9 11 12 14 15 16 17 19 20 21 22',
  G: '1 2 3 4 5 6 7 8 9 10 11 12',
  H: '1 2 3 4 5 7 8 10',
  I: '2 3 4 5 7 8 9 11',
  J: '1 2 4 5 6 7 8 10 11 12 15 16',
  K: '1 4',
  L: '1 2 3 4 6 8 9',
  M: '1 2 3 4 5 6 9 11',
}

test('every case is a test by its id', () => {
  const folders = ['./', '../', '../../controller/', '../../survey/']
  const texts = folders.flatMap(folder => {
    const url = new URL(folder, import.meta.url)
    const files = readdirSync(url).filter(file => file.endsWith('.test.ts') && file !== 'coverage.test.ts')
    return files.map(file => readFileSync(new URL(file, url), 'utf8'))
  })
  // In a title, or at the beginning of one that names several: `A8: …`, `A11, M4: …`.
  const tested = new Set(
    texts.flatMap(text =>
      [...text.matchAll(/['`]((?:[A-M]\d+(?:, )?)+)[ :]/g)].flatMap(match => match[1]?.split(', ') ?? []),
    ),
  )
  const all = Object.entries(ids).flatMap(([letter, numbers]) => numbers.split(' ').map(n => letter + n))
  assert.deepEqual(
    all.filter(id => !tested.has(id)),
    [],
  )
})

/** Rows of the comparison that ran other approvers' own code, with the case that is the same where there is one. */
const rows: Record<string, string> = {
  ...Object.fromEntries(
    '1a 1b 2 3 4 5 6 7 8 9 10 10b 13b 13c 16 18 20 20b 22 22c 24 25 28 29 29b 30 31'
      .split(' ')
      .map(row => [row, `row ${row}: `]),
  ),
  '2b': "['an API server', '10.0.0.1']",
  11: 'G2 a URI',
  '11b': 'G1 an email address',
  12: 'G4 no SAN',
  13: 'E10 a wildcard',
  14: 'E9 upper case and a trailing dot',
  15: 'E9 upper case and a trailing dot',
  17: 'F11 an IPv4-mapped address',
  19: 'F17 a Node address with a zone',
  21: 'E17 the same name twice',
  '22b': 'E14 an empty name',
  23: 'G6 two SAN extensions',
  26: 'H2 a 1024-bit RSA key',
  27: "H4 the key of another node's certificate",
}

test('every input that another approver decides wrongly is a test', () => {
  const folder = new URL('./', import.meta.url)
  const files = readdirSync(folder).filter(file => file.endsWith('.test.ts') && file !== 'coverage.test.ts')
  const all = files.map(file => readFileSync(new URL(file, folder), 'utf8')).join('\n')
  const missing = Object.entries(rows).filter(
    ([, title]) => !new RegExp(`['"\`]${title}|what.*${title}`).test(all),
  )
  assert.equal(Object.keys(rows).length, 41)
  assert.deepEqual(
    missing.filter(
      ([, title]) => title !== 'F15 an API server' || !all.includes("['an API server', '10.0.0.1']"),
    ),
    [],
  )
})
