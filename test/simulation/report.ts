import type { Outcome } from '../../src/fleet/simulated/scenario.ts'

/** What somebody needs who is to find out why a seed failed. */
export function failureReport({ seed, troubles, tail, digest }: Outcome): string {
  return [
    `seed ${seed} failed:`,
    ...troubles.map(trouble => `  ${trouble}`),
    'the last events:',
    tail.replace(/^/gm, '  ').trimEnd(),
    `digest of all events: ${digest}`,
    `run exactly this one, with all its events: ROLLCALL_SEED=${seed} npm run simulate`,
  ].join('\n')
}
