/** How the world should look in each phase. Effects are the difference to how it looks. */
import type { BundleWant } from './bundle-choice.ts'
import type { PresentedChain } from './gates/served.ts'
import type { ChainMode } from './observations.ts'
import { switchMode } from './phases.ts'
import type { Phase, Plan } from './plan.ts'

export interface Desired {
  /** Bundle for sinks and consumers, and for servers that judge clients; absent: what they have. */
  sinks?: BundleWant
  servers?: BundleWant
  /** Absent: what is presented now. */
  present?: PresentedChain
  /** `authority` absent: none signs. */
  signer?: { authority: number | undefined; mode: ChainMode }
  /** Leaves of this CA are renewed. */
  renew?: number
  /** Consumers are probed with the bare chain of this CA. */
  probe?: number
  /** Servers are asked to prove that they refuse this CA. */
  refuse?: number
  freeze?: true
}

export function desiredIn(plan: Plan): Desired {
  const { from, to } = plan
  const old = { authority: from, mode: 'old' } as const
  const during = { authority: to, mode: switchMode(plan) } as const
  const bare = { authority: to, mode: 'bare' } as const
  const wide = { sinks: 'wide', servers: 'wide' } as const
  const narrow = { sinks: 'narrow', servers: 'narrow' } as const
  const phases: Record<Phase, Desired> = {
    Preflight: {},
    Prepared: {},
    Distributing: { ...wide, present: old, signer: old },
    Proving: { ...wide, present: old, signer: old, probe: to },
    Bridging: { ...wide, present: during, signer: old, probe: to },
    IssuerSwitch: { ...wide, present: during, signer: during, probe: to },
    Reissuing: { ...wide, present: during, signer: during, probe: to, renew: from },
    Unbridging: { ...wide, present: bare, signer: bare, probe: to, renew: from },
    DistrustingServers: {
      sinks: 'wide',
      servers: 'narrow',
      present: bare,
      signer: bare,
      probe: to,
      renew: from,
      refuse: from,
    },
    DistrustingConsumers: { ...narrow, present: bare, signer: bare, probe: to, renew: from, refuse: from },
    Done: {},
    Aborted: {},
    RestoringTrust: { ...wide, probe: from },
    RestoringIssuer: { ...wide, present: old, signer: old, probe: from },
    RestoringLeaves: { ...wide, present: old, signer: old, renew: to },
    RolledBack: {},
    Freezing: { signer: { authority: undefined, mode: 'bare' }, freeze: true },
    EmergencyDistrust: {
      servers: 'narrow',
      signer: { authority: undefined, mode: 'bare' },
      refuse: from,
      freeze: true,
    },
    EmergencySwitch: { servers: 'narrow', present: bare, signer: bare, refuse: from },
    EmergencyReissue: { ...narrow, present: bare, signer: bare, renew: from, refuse: from, probe: to },
  }
  return phases[plan.phase]
}
