/**
 * What should be done. Each is level-based: it names a state, not a change, so that doing it twice is harmless and a step
 * whose effects were lost says them again.
 */
import type { ChainMode } from '../observations.ts'

export type Effect =
  /** Make the CA's key where it will stay, write-once, and its certificate. */
  | { kind: 'create-authority'; authority: number }
  /** A CA certificate for the key of one CA, signed by the other. */
  | { kind: 'cross-sign'; subject: number; issuer: number }
  | { kind: 'publish-bundle'; sink: string; generation: number }
  /** Order to an agent: take the bundle now. */
  | { kind: 'load-bundle'; consumer: string; generation: number }
  /** This process of a consumer that does not reload shall end; a later one is left alone. */
  | { kind: 'restart'; consumer: string; instance: string; generation: number; notBefore: number }
  /** A handshake with the bare chain of this CA, without resumption, and an authenticated request after it. */
  | { kind: 'probe'; consumer: string; authority: number }
  /** L4: the same, and it has to be refused. */
  | { kind: 'probe-refusal'; consumer: string; authority: number }
  | { kind: 'present'; server: string; authority: number; mode: ChainMode }
  /** Judge clients by this bundle; new ticket keys, and connections of others closed. */
  | { kind: 'client-trust'; server: string; generation: number }
  /** Try a certificate of this CA on the server and tell whether it is refused. */
  | { kind: 'try-refusal'; server: string; authority: number }
  /** Sign new leaves with this CA; undefined: with none. */
  | { kind: 'sign-with'; authority: number | undefined; mode: ChainMode }
  | { kind: 'try-canary'; authority: number }
  | { kind: 'renew'; holder: string; authority: number; notBefore: number }
  | { kind: 'close-connections'; authority: number }
  | { kind: 'freeze-approval' }
  /** The key of this CA may be destroyed then (milliseconds since the epoch), not earlier. */
  | { kind: 'retire-key'; authority: number; notBefore: number }

export type EffectKind = Effect['kind']

/** An order as it goes out: who takes it refuses one with a lower token or sequence than it has seen (I7). */
export interface Order {
  effect: Effect
  token: number
  sequence: number
}
