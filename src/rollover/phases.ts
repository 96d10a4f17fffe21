/** The state machine as a table: what opens the way out of each phase, where it leads, and what a time-out does. */
import { usualPhases } from '../kube/rollcall/ca-rotation.ts'
import type { RotationTiming } from '../kube/rollcall/rotation-timings.ts'
import { approvalsGate, confirmedGate } from './gates/approvals.ts'
import { budgetGate } from './gates/budget.ts'
import type { Gate } from './gates/gate.ts'
import { frozenGate, issuerGate } from './gates/issuer.ts'
import { liveGate } from './gates/live.ts'
import { artefactsGate, preflightGate } from './gates/preflight.ts'
import { acceptedGate, refusedGate, sampleGate } from './gates/refused.ts'
import { servedGate } from './gates/served.ts'
import { signedGate, wayBackGate } from './gates/signed.ts'
import { seedsGate, sinksGate } from './gates/sinks.ts'
import { narrowedGate, trustGate } from './gates/trust.ts'
import type { ChainMode, Observations } from './observations.ts'
import { finalPhases, type Phase, type Plan } from './plan.ts'

type Gates = (plan: Plan, observations: Observations) => Gate[]

export interface PhaseRule {
  gates: Gates
  next: Phase
  /** A time-out never opens a gate. `Abort` where nothing was done yet; a phase: back to it, then Paused. */
  timeout?: { after: RotationTiming; times?: 'servers'; to: 'Abort' | 'Pause' | Phase }
  /** Where a consumer that refuses a chain sends it back to. */
  onTrustFailure?: Phase
}

/** Mode in which the new chain is served while some may still trust the old CA alone. */
export function switchMode({ policy }: Plan): ChainMode {
  return policy.bridge === 'CrossSigned' ? 'bridged' : 'bare'
}

/** That the new CA is loaded. Every bundle since it was widened has it, so any generation with it in it will do. */
export function trustsNew(plan: Plan, observations: Observations): Gate {
  return trustGate(plan, observations, { authority: plan.to, atLeast: 0 })
}

/** That the old CA is (still, again) loaded: after a narrowed bundle was out, proofs of before it count no longer. */
export function trustsOld(plan: Plan, observations: Observations): Gate {
  const atLeast = plan.narrowedAt === undefined ? 0 : (plan.bundle ?? 0)
  return trustGate(plan, observations, { authority: plan.from, atLeast })
}

/** REMOVE: everybody trusts the new CA, nothing alive needs the old one, newcomers get the new one, people agree. */
export function removeGates(plan: Plan, observations: Observations): Gate[] {
  return [
    trustsNew(plan, observations),
    liveGate(plan, observations, plan.from),
    seedsGate(observations, plan.to),
    approvalsGate(plan),
  ]
}

const rules: Readonly<Partial<Record<Phase, PhaseRule>>> = {
  Preflight: {
    gates: (plan, seen) => [preflightGate(plan, seen)],
    next: 'Prepared',
    timeout: { after: 'preflight', to: 'Abort' },
  },
  Prepared: {
    gates: (plan, seen) => [artefactsGate(plan, seen), signedGate(plan, seen)],
    next: 'Distributing',
    timeout: { after: 'prepare', to: 'Abort' },
  },
  Distributing: {
    gates: (plan, seen) => [sinksGate(plan, 'wide', seen), seedsGate(seen, plan.to)],
    next: 'Proving',
    timeout: { after: 'distribute', to: 'Pause' },
  },
  Proving: {
    gates: (plan, seen) => [seedsGate(seen, plan.to), trustsNew(plan, seen)],
    next: 'Bridging',
    timeout: { after: 'prove', to: 'Pause' },
  },
  Bridging: {
    gates: (plan, seen) => [
      servedGate(plan, seen, plan.to, switchMode(plan)),
      trustsNew(plan, seen),
      budgetGate(seen),
    ],
    next: 'IssuerSwitch',
    timeout: { after: 'bridgeReplica', times: 'servers', to: 'Proving' },
    onTrustFailure: 'Proving',
  },
  IssuerSwitch: {
    gates: (plan, seen) => [issuerGate(seen, plan.to), trustsNew(plan, seen)],
    next: 'Reissuing',
    timeout: { after: 'issuerSwitch', to: 'Bridging' },
  },
  Reissuing: {
    gates: (plan, seen) => [liveGate(plan, seen, plan.from), trustsNew(plan, seen)],
    next: 'Unbridging',
  },
  Unbridging: {
    gates: (plan, seen) => [
      servedGate(plan, seen, plan.to, 'bare'),
      budgetGate(seen),
      wayBackGate(plan, seen),
      ...removeGates(plan, seen),
    ],
    next: 'DistrustingServers',
    timeout: { after: 'unbridge', to: 'Reissuing' },
    onTrustFailure: 'Reissuing',
  },
  DistrustingServers: {
    gates: (plan, seen) => [refusedGate(seen, plan.from), ...removeGates(plan, seen)],
    next: 'DistrustingConsumers',
    timeout: { after: 'distrustServers', times: 'servers', to: 'Unbridging' },
  },
  DistrustingConsumers: {
    gates: (plan, seen) => [
      sinksGate(plan, 'narrow', seen),
      narrowedGate(plan, seen, plan.bundle ?? 0),
      sampleGate(plan, seen),
    ],
    next: 'Done',
    timeout: { after: 'distrustConsumers', to: 'Pause' },
  },

  RestoringTrust: {
    gates: (plan, seen) => [
      sinksGate(plan, 'wide', seen),
      acceptedGate(seen, plan.from),
      ...(plan.narrowedAt === undefined ? [] : [trustsOld(plan, seen)]),
    ],
    next: 'RestoringIssuer',
    timeout: { after: 'prove', to: 'Pause' },
  },
  RestoringIssuer: {
    gates: (plan, seen) => [servedGate(plan, seen, plan.from, 'old'), issuerGate(seen, plan.from)],
    next: 'RestoringLeaves',
    timeout: { after: 'bridgeReplica', times: 'servers', to: 'Pause' },
  },
  RestoringLeaves: { gates: (plan, seen) => [liveGate(plan, seen, plan.to)], next: 'RolledBack' },

  // Emergency: the old CA is distrusted first. Nothing waits for an answer but the confirmation and the end.
  Freezing: {
    gates: (plan, seen) => [
      frozenGate(seen),
      signedGate(plan, seen),
      confirmedGate(plan, trustsNew(plan, seen)),
    ],
    next: 'EmergencyDistrust',
  },
  EmergencyDistrust: { gates: (plan, seen) => [refusedGate(seen, plan.from)], next: 'EmergencySwitch' },
  EmergencySwitch: {
    gates: (plan, seen) => [issuerGate(seen, plan.to), servedGate(plan, seen, plan.to, 'bare')],
    next: 'EmergencyReissue',
  },
  EmergencyReissue: {
    gates: (plan, seen) => [
      sinksGate(plan, 'narrow', seen),
      narrowedGate(plan, seen, plan.bundle ?? 0),
      liveGate(plan, seen, plan.from),
    ],
    next: 'Done',
  },
}

export function ruleOf(phase: Phase): PhaseRule | undefined {
  return rules[phase]
}

/** The gates that the plan's phase waits for; none where it is over. */
export function gatesOf(plan: Plan, observations: Observations): Gate[] {
  return finalPhases.has(plan.phase) ? [] : (rules[plan.phase]?.gates(plan, observations) ?? [])
}

/** Nothing is distributed yet in the first two; the last is the end. */
const beforeAnything: ReadonlySet<Phase> = new Set(usualPhases.slice(0, 2))
const forward: ReadonlySet<Phase> = new Set(usualPhases.slice(2, -1))

/** Where the wish to roll back leads from here; undefined: nowhere (an emergency, a way back already, the end). */
export function rollbackFrom(phase: Phase): Phase | undefined {
  if (beforeAnything.has(phase)) return 'Aborted'
  return forward.has(phase) ? 'RestoringTrust' : undefined
}
