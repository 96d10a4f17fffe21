/** Comma-separated values (RFC 4180), for spreadsheets and scripts. */

/** A header and rows of cells, each line ended by CRLF. */
export function formatCsv(header: readonly string[], rows: readonly (readonly string[])[]): string {
  return [header, ...rows].map(row => `${row.map(cell).join(',')}\r\n`).join('')
}

/**
 * A node chooses its names and its subject, and a spreadsheet computes what begins with one of these, also behind blanks
 * and in full width: an apostrophe makes it text.
 */
const formula = /^\s*[=+\-@＝＋－＠]|^[\t\r\n]/

function cell(text: string): string {
  const safe = formula.test(text) ? `'${text}` : text
  return /[",\r\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe
}
