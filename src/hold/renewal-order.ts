/** `rollcall renew`: an annotation on the Node that tells its agent since when a certificate is to be. */
import { formatTime } from '../kube/time-format.ts'

export const orderedKinds = ['client', 'serving'] as const
export type OrderedKind = (typeof orderedKinds)[number]

/** Milliseconds that signers date notBefore back, ours and kube-controller-manager (C-25). */
const backdating = 300_000

export const renewalAnnotation = (kind: OrderedKind) => `rollcall.dev/renew.${kind}`

/** `at` in milliseconds since the epoch, kept in whole seconds. It names a state, so that reading it twice is harmless. */
export const encodeRenewal = (at: number) => formatTime(at)

/** Milliseconds since the epoch; undefined where there is no order, or none that encodeRenewal wrote. */
export function renewalOrder(
  annotations: Readonly<Record<string, string>> | undefined,
  kind: OrderedKind,
): number | undefined {
  const text = annotations?.[renewalAnnotation(kind)]
  const at = text === undefined ? Number.NaN : Date.parse(text)
  return !Number.isNaN(at) && encodeRenewal(at) === text ? at : undefined
}

/** Whether a certificate with this notBefore was issued after the order was given. Milliseconds since the epoch. */
export function isSince(notBefore: number, order: number): boolean {
  return notBefore >= order - backdating
}
