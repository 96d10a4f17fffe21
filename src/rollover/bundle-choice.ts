/** Which of the signed bundles is published next. Only their content counts, and generations only rise (I5). */
import type { Observations } from './observations.ts'
import type { Plan } from './plan.ts'

/** `wide` trusts old and new CA, `narrow` the new one and no longer the old one. */
export type BundleWant = 'wide' | 'narrow'

/**
 * The generation that fulfils the want: the current one where it does, else the lowest after it. undefined: the trust
 * roots have signed none.
 */
export function bundleWith(
  want: BundleWant,
  plan: Plan,
  { bundles, sinks }: Observations,
  current: number | undefined,
): number | undefined {
  // Before the rotation has published anything, what is out there already may be enough: a CA trusted in advance.
  const from = current ?? Math.max(0, ...sinks.map(({ generation }) => generation))
  const generations = bundles
    .filter(({ generation, anchors }) => generation >= from && fulfils(want, plan, anchors))
    .map(({ generation }) => generation)
  return generations.length === 0 ? undefined : Math.min(...generations)
}

/** Whether a bundle with these CAs is what is wanted. */
export function fulfils(want: BundleWant, { from, to }: Plan, anchors: readonly number[]): boolean {
  return anchors.includes(to) && anchors.includes(from) === (want === 'wide')
}
