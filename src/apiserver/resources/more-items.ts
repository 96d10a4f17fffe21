/** `a,b,c + 2 more...`: how tables show the first three of many. */
export function firstThree(items: readonly string[], empty: string): string {
  if (items.length === 0) return empty
  const shown = items.slice(0, 3).join(',')
  return items.length > 3 ? `${shown} + ${items.length - 3} more...` : shown
}
