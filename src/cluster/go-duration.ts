import { RollcallError } from '../errors.ts'

const unitSeconds: Record<string, number> = { s: 1, m: 60, h: 3600, ms: 0.001 }

/** Seconds in a Go duration such as `24h`, `1h30m`, `90s`. Throws USAGE naming the option for anything else. */
export function parseGoDuration(text: string, option: string): number {
  const parts = [...text.matchAll(/(\d+(?:\.\d+)?)(ms|h|m|s)/g)]
  if (parts.length === 0 || parts.map(part => part[0]).join('') !== text) {
    throw new RollcallError(
      'USAGE',
      `${option}: ${JSON.stringify(text)} is no duration; write it like 24h, 90m or 1h30m.`,
    )
  }
  return parts.reduce(
    (sum, [, number, unit]) => sum + Number(number) * (unitSeconds[unit ?? ''] ?? Number.NaN),
    0,
  )
}

/** `--cert-lifetime`: the signers' cap in seconds, at least 10 minutes (Kubernetes refuses shorter requests, A-5). */
export function parseCertificateLifetime(text: string): number {
  const seconds = parseGoDuration(text, '--cert-lifetime')
  if (seconds < 600) {
    throw new RollcallError(
      'USAGE',
      `--cert-lifetime: ${text} is shorter than the 10m that Kubernetes allows at least.`,
    )
  }
  return seconds
}
