import assert from 'node:assert/strict'
import { test } from 'node:test'
import { printable } from './printable.ts'
import { type Column, formatTable } from './table.ts'

const columns: Column<{ name: string; age: string; more: string }>[] = [
  { title: 'name', cell: row => row.name },
  { title: 'age', cell: row => row.age },
  { title: 'more', cell: row => row.more, wide: true },
]
const rows = [
  { name: 'worker-1', age: '5m', more: 'x' },
  { name: 'é', age: '', more: '' },
]

test('columns are aligned, and nothing stands behind the last one', () => {
  assert.equal(formatTable(columns, rows), 'NAME       AGE\nworker-1   5m\né          -\n')
})

test('wide columns come with -o wide only', () => {
  assert.equal(
    formatTable(columns, rows, true),
    'NAME       AGE   MORE\nworker-1   5m    x\né          -     -\n',
  )
})

test('what a request calls itself cannot repaint the terminal', () => {
  assert.equal(printable('a\u001b[2Jb\r\n\u202ec'), 'a\\u{1b}[2Jb\\u{d}\\u{a}\\u{202e}c')
  assert.equal(printable('Ünïcode 節'), 'Ünïcode 節')
})
