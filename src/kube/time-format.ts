/** RFC 3339 in whole seconds, as metav1.Time is written; `milliseconds` since the epoch, cut off, not rounded. */
export function formatTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace(/\.\d+Z$/, 'Z')
}

/** metav1.MicroTime: exactly six digits of fraction, or the server answers 400. */
export function formatMicroTime(milliseconds: number): string {
  return new Date(milliseconds).toISOString().replace('Z', '000Z')
}

/**
 * A duration as kubectl shows ages (apimachinery's HumanDuration): 90 s → `90s`, 3600 s → `60m`, 2 d 3 h → `2d3h`.
 * Negative ones, a clock that is ahead, give `<invalid>`, and up to a second behind `0s`.
 */
export function formatAge(milliseconds: number): string {
  const seconds = Math.trunc(milliseconds / 1000)
  if (seconds < -1) return '<invalid>'
  if (seconds < 0) return '0s'
  const minutes = Math.trunc(seconds / 60)
  const hours = Math.trunc(minutes / 60)
  const days = Math.trunc(hours / 24)
  if (minutes < 2) return `${seconds}s`
  if (minutes < 10) return two(minutes, 'm', seconds % 60, 's')
  if (hours < 3) return `${minutes}m`
  if (hours < 8) return two(hours, 'h', minutes % 60, 'm')
  if (hours < 48) return `${hours}h`
  if (hours < 24 * 8) return two(days, 'd', hours % 24, 'h')
  if (hours < 24 * 365 * 2) return `${days}d`
  const years = Math.trunc(hours / 24 / 365)
  return years < 8 ? two(years, 'y', days % 365, 'd') : `${years}y`
}

function two(large: number, largeUnit: string, small: number, smallUnit: string): string {
  return `${large}${largeUnit}${small === 0 ? '' : `${small}${smallUnit}`}`
}
