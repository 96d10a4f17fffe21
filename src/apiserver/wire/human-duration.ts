/** Ages and durations as kubectl prints them (apimachinery duration.HumanDuration): at most two units, ever coarser. */

const units = (large: number, largeUnit: string, small: number, smallUnit: string) =>
  small === 0 ? `${large}${largeUnit}` : `${large}${largeUnit}${small}${smallUnit}`

/** `milliseconds` may be slightly negative (clocks differ): down to -2 s it is `0s`, below that `<invalid>`. */
export function humanDuration(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  if (seconds < 120) return `${seconds}s`
  const minutes = Math.trunc(seconds / 60)
  if (minutes < 10) return units(minutes, 'm', seconds % 60, 's')
  if (minutes < 180) return `${minutes}m`
  const hours = Math.trunc(minutes / 60)
  if (hours < 8) return units(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  const days = Math.trunc(hours / 24)
  if (hours < 24 * 8) return units(days, 'd', hours % 24, 'h')
  if (hours < 24 * 365 * 2) return `${days}d`
  const years = Math.trunc(days / 365)
  if (hours < 24 * 365 * 8) return units(years, 'y', days % 365, 'd')
  return `${years}y`
}

/** Time since an RFC 3339 time stamp; `<unknown>` without one. `now` in milliseconds since the epoch. */
export function ageOf(timestamp: string | null | undefined, now: number): string {
  const since = timestamp ? Date.parse(timestamp) : Number.NaN
  return Number.isNaN(since) ? '<unknown>' : humanDuration(now - since)
}
