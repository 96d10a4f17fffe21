/** What one message names at most; a request may hold hundreds of names. */
const most = 20

/** `a, b, c`, or the first twenty `and 7 more`. */
export function listed(names: readonly string[]): string {
  const shown = names.slice(0, most).join(', ')
  return names.length > most ? `${shown} and ${names.length - most} more` : shown
}
