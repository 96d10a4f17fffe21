/** Times as people read them. Pure; seconds since the epoch. */

/** `3d 4h`, `5h 10m`, `12m`, `40s`: two units at most. */
export function duration(seconds: number): string {
  const whole = Math.max(0, Math.floor(seconds))
  if (whole < 60) return `${whole}s`
  const minutes = Math.floor(whole / 60)
  if (minutes < 60) return `${minutes}m`
  const hours = Math.floor(minutes / 60)
  if (hours < 48) return minutes % 60 && hours < 10 ? `${hours}h ${minutes % 60}m` : `${hours}h`
  const days = Math.floor(hours / 24)
  return hours % 24 && days < 10 ? `${days}d ${hours % 24}h` : `${days}d`
}

export function left(notAfter: number, now: number): string {
  return notAfter > now ? `${duration(notAfter - now)} left` : `ended ${duration(now - notAfter)} ago`
}

/** In the viewer's own time zone, to the second. */
export function moment(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    year: 'numeric',
    hour: '2-digit',
    minute: '2-digit',
    second: '2-digit',
  })
}

/** The same without year and seconds. */
export function shortMoment(seconds: number): string {
  return new Date(seconds * 1000).toLocaleString('en-GB', {
    day: 'numeric',
    month: 'short',
    hour: '2-digit',
    minute: '2-digit',
  })
}

export const percent = (part: number): string => `${Math.floor(part * 100)} %`

export function plural(count: number, one: string, many = `${one}s`): string {
  return `${count.toLocaleString('en')} ${count === 1 ? one : many}`
}
