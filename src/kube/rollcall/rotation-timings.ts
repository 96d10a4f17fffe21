/** All soaks, windows and time-outs of a CARotation, in one table: schema, defaults and documentation follow from it. */

interface Timing {
  /** As metav1.Duration. */
  default: string
  means: string
}

const day = (days: number) => `${days * 24}h`

export const rotationTimings = {
  preflight: { default: '15m', means: 'Preflight without all its gates open for so long ends in Aborted.' },
  prepare: { default: '15m', means: 'Prepared without all its gates open for so long ends in Aborted.' },
  distribute: { default: '2h', means: 'Distributing for so long is Paused.' },
  prove: { default: '72h', means: 'Proving for so long is Paused.' },
  propagate: {
    default: '10m',
    means:
      'Consumers without an agent are asked to prove themselves no sooner after the CA was published: mounted files follow, programs read them again.',
  },
  canaryRetry: {
    default: '1m',
    means: 'An address from which a connection refused the new chain is left alone for so long.',
  },
  bridgeReplica: { default: '30m', means: 'Bridging for so long a replica is rolled back.' },
  bridgeSoak: {
    default: '15m',
    means: 'How long the first replica serves a new chain before the others follow.',
  },
  issuerSwitch: { default: '10m', means: 'IssuerSwitch for so long is rolled back.' },
  wave: { default: '30m', means: 'A wave of renewals or restarts that takes so long is Paused.' },
  unbridge: { default: '24h', means: 'Unbridging for so long is bridged again and Paused.' },
  distrustServers: {
    default: '30m',
    means: 'DistrustingServers for so long trusts the old CA again and is Paused.',
  },
  distrustConsumers: { default: '72h', means: 'DistrustingConsumers for so long is Paused.' },
  quiet: {
    default: '1h',
    means: 'No handshake with a chain of the old CA may be seen for so long before it is dropped.',
  },
  proofAge: { default: '24h', means: 'A proof older than this counts no longer.' },
  live: { default: '40s', means: 'A consumer silent for less is Live.' },
  late: { default: '10m', means: 'A consumer silent for less is Late, for longer Offline.' },
  excludeAfter: { default: day(7), means: 'With offline policy ExcludeAfter: silent for so long excludes.' },
  clockSkew: { default: '5m', means: 'Clocks further apart stop everything that is decided by time.' },
  jitter: { default: '30s', means: 'The least span over which the actions of one wave are spread.' },
  keyRetention: { default: day(90), means: 'The key of the retired CA is destroyed no earlier.' },
  margin: { default: day(30), means: 'A rotation is begun this long before it would have to.' },
} as const satisfies Record<string, Timing>

export type RotationTiming = keyof typeof rotationTimings

/** `spec.policy.timings`: what is absent has its default. */
export type RotationTimings = Partial<Record<RotationTiming, string>>
