import type { Log } from '../ports.ts'

/** A Log that keeps its lines, e.g. `warn: watch of nodes went silent`. */
export function recordingLog(): Log & { readonly lines: string[]; readonly fields: unknown[] } {
  const lines: string[] = []
  const fields: unknown[] = []
  const at = (level: string) => (message: string, more?: Record<string, unknown>) => {
    lines.push(`${level}: ${message}`)
    fields.push(more)
  }
  return { lines, fields, info: at('info'), warn: at('warn'), error: at('error') }
}
