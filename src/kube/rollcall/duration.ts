const unit = { ms: 1, s: 1000, m: 60_000, h: 3_600_000 } as const

/** Milliseconds of a metav1.Duration of our kinds, such as `72h` or `1h30m`. Throws RangeError for anything else. */
export function durationMilliseconds(text: string): number {
  const parts = [...text.matchAll(/(\d+)(ms|s|m|h)/g)]
  if (parts.length === 0 || parts.map(([whole]) => whole).join('') !== text)
    throw new RangeError(`${JSON.stringify(text)} is no duration; write it like 24h, 90m or 1h30m`)
  return parts.reduce((sum, [, count, name]) => sum + Number(count) * unit[name as keyof typeof unit], 0)
}
