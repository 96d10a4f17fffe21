/** Whether to colour what goes to a terminal: not where NO_COLOR is set to anything (no-color.org), nor for one that cannot. */
export function wantsColours(
  isTerminal: boolean,
  { NO_COLOR, TERM }: Readonly<Record<string, string | undefined>>,
): boolean {
  return isTerminal && !NO_COLOR && TERM !== 'dumb'
}
