/** `rollcall renew`: which nodes renew together. */

/** `10%` of all, at least one, or a number of nodes. Undefined for what is neither. */
export function waveSize(text: string, nodes: number): number | undefined {
  const [, digits = '', percent] = /^(\d{1,5})(%)?$/.exec(text) ?? []
  const number = Number(digits)
  if (digits === '' || number === 0 || (percent && number > 100)) return undefined
  return percent ? Math.max(1, Math.ceil((nodes * number) / 100)) : number
}

export function wavesOf<T>(nodes: readonly T[], size: number): T[][] {
  return Array.from({ length: Math.ceil(nodes.length / size) }, (_, wave) =>
    nodes.slice(wave * size, (wave + 1) * size),
  )
}
