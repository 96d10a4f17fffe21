/**
 * Text from the cluster made safe for a terminal: whoever may create a request chooses its names, and an escape
 * sequence in one could repaint what an operator is about to approve.
 */
export function printable(text: string): string {
  return text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, character => {
    const code = character.codePointAt(0) ?? 0
    return `\\u{${code.toString(16)}}`
  })
}
