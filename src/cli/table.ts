import { printable } from './printable.ts'

export interface Column<Row> {
  /** Printed in upper case. */
  title: string
  /** An empty text is printed as `-`. */
  cell(row: Row): string
  /** Only with `-o wide`. */
  wide?: boolean
}

/** A table as kubectl prints it: upper-case titles, columns three spaces apart, nothing behind the last one. */
export function formatTable<Row>(
  columns: readonly Column<Row>[],
  rows: readonly Row[],
  wide = false,
): string {
  const shown = columns.filter(column => wide || !column.wide)
  const lines = [
    shown.map(column => column.title.toUpperCase()),
    ...rows.map(row => shown.map(column => printable(column.cell(row)) || '-')),
  ]
  return alignColumns(lines)
}

/** Lines of cells, each column as wide as its widest cell that has another behind it. Ends with a newline. */
export function alignColumns(lines: readonly (readonly string[])[], indent = ''): string {
  const widths: number[] = []
  for (const line of lines) {
    for (const [n, cell] of line.slice(0, -1).entries())
      widths[n] = Math.max(widths[n] ?? 0, [...cell].length)
  }
  const pad = (cell: string, n: number) => cell + ' '.repeat(Math.max(0, (widths[n] ?? 0) - [...cell].length))
  return lines.map(line => `${indent}${line.map(pad).join('   ').trimEnd()}\n`).join('')
}
