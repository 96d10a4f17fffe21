import { Counter, type Registry } from 'prom-client'
import type { RefusalCode } from '../../keys/attestation/messages.ts'

/** `token`: it was let in. Else why not; `ERROR`: the API did not take part. */
export type AttestationResult = 'challenge' | 'token' | RefusalCode | 'ERROR'

const results: readonly AttestationResult[] = [
  'challenge',
  'token',
  'MALFORMED',
  'PENDING',
  'REVOKED',
  'OTHER_KEY',
  'NOT_PROVEN',
  'BUSY',
  'ERROR',
]

/** Counts what machines were answered; registered once for each registry. */
export function attestationMetrics(registry: Registry): (result: AttestationResult) => void {
  const counter = new Counter({
    name: 'rollcall_attestations_total',
    help: 'What machines were answered that prove themselves: a challenge, a token, or why not.',
    labelNames: ['result'],
    registers: [registry],
  })
  for (const result of results) counter.inc({ result }, 0)
  return result => counter.inc({ result })
}

/** The code of a refusal as it goes to the machine. */
export function resultOf(code: unknown): AttestationResult {
  return results.find(result => result === code) ?? 'ERROR'
}
