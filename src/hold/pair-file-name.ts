/**
 * Name of a file that holds a pair: `PREFIX-2026-01-31-23-59-59.pem` (K-12, but in UTC: local time repeats an hour each
 * autumn), with `-1`, `-2` … for the next ones in the same second. `now` in milliseconds since the epoch.
 */
export function pairFileName(prefix: string, now: number, attempt: number): string {
  const stamp = new Date(now).toISOString().slice(0, 19).replaceAll(/[T:]/g, '-')
  return `${prefix}-${stamp}${attempt === 0 ? '' : `-${attempt}`}.pem`
}

/** Whether a file name is one of those, ours or the kubelet's. */
export function isPairFile(prefix: string, name: string): boolean {
  return name.startsWith(`${prefix}-`) && /^\d{4}(-\d\d){5}(-\d+)?\.pem$/.test(name.slice(prefix.length + 1))
}
