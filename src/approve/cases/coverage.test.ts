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
