import type { Command } from '../survey/explanation.ts'

/** Loudest first. `info`: nothing is broken; it does not count as found (exit code 3). */
export const severities = ['critical', 'warning', 'info'] as const
export type Severity = (typeof severities)[number]

/** Whether the first is louder than the second. */
export function isLouder(one: Severity, other: Severity): boolean {
  return severities.indexOf(one) < severities.indexOf(other)
}

export interface Evidence {
  /** What was seen. */
  value: string
  /** Where: object and field, file, or the question that was asked. */
  source: string
  /** RFC 3339; absent: at the time of the report. */
  at?: string
}

/** One fault at one object; the report puts those of one cause together. */
export interface Finding {
  /** E.g. `Node worker-1`, `CertificateSigningRequest csr-1`, `the cluster`. */
  object: string
  /** The node that suffers from it: a cause found for a node explains what else is found for it. */
  node?: string
  /** It explains what is found anywhere in the cluster, or anywhere on the node that is looked at. */
  everywhere?: boolean
  /** Absent: that of the check. */
  severity?: Severity
  evidence: Evidence[]
  /** One sentence; findings of one check with the same cause are shown as one. */
  cause: string
  fix: Command[]
  verify: Command
}
