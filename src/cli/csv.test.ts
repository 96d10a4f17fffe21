import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { formatCsv } from './csv.ts'

test('lines end as RFC 4180 has them, and what would break a line is quoted', () => {
  const text = formatCsv(
    ['node', 'names'],
    [
      ['worker-1', 'DNS a, IP 10.0.0.1'],
      ['say "hi"', 'two\nlines'],
      ['', ' plain '],
    ],
  )
  assert.equal(
    text,
    'node,names\r\nworker-1,"DNS a, IP 10.0.0.1"\r\n"say ""hi""","two\nlines"\r\n, plain \r\n',
  )
})

test('no cell begins as a formula does in a spreadsheet', () => {
  for (const cell of ['=1+1', '+1', '-1', '@SUM(A1)', '\t=1', '\r=1', '\n=1', '＝1', '  =1'])
    assert.match(formatCsv(['x'], [[cell]]).split('x\r\n')[1] ?? '', /^"?'/, JSON.stringify(cell))
  assert.equal(formatCsv(['x'], [['0.91']]), 'x\r\n0.91\r\n')
})

test('a reader gets back what was written, but for the mark before a formula', () => {
  const cell = fc.oneof(
    fc.string(),
    fc.array(fc.constantFrom('"', ',', '\r', '\n', '=', 'a', ' ')).map(of => of.join('')),
  )
  fc.assert(
    fc.property(fc.array(fc.tuple(cell, cell), { minLength: 1 }), rows => {
      const read = readCsv(formatCsv(['a', 'b'], rows)).slice(1)
      assert.deepEqual(
        read.map(row => row.map(text => text.replace(/^'/, ''))),
        rows.map(row => row.map(text => text.replace(/^'/, ''))),
      )
    }),
  )
})

/** RFC 4180, to the letter. */
function readCsv(text: string): string[][] {
  const rows: string[][] = [[]]
  for (const [, quoted, plain, end] of text.matchAll(/(?:"((?:[^"]|"")*)"|([^",\r\n]*))(,|\r\n)/g)) {
    rows.at(-1)?.push(quoted?.replaceAll('""', '"') ?? plain ?? '')
    if (end === '\r\n') rows.push([])
  }
  return rows.slice(0, -1)
}
