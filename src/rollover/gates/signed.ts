import { type BundleWant, bundleWith } from '../bundle-choice.ts'
import type { Observations } from '../observations.ts'
import type { Plan } from '../plan.ts'
import { type Gate, gate } from './gate.ts'

/** SIGNED: the trust roots have signed all bundles that the rotation and its way back need, so that it runs unattended. */
export function signedGate(plan: Plan, observations: Observations): Gate {
  const emergency = plan.reason === 'Compromise'
  const wants: BundleWant[] = emergency ? ['narrow'] : ['wide', 'narrow', 'wide']
  let last = plan.bundle
  let found = 0
  for (const want of wants) {
    const next = bundleWith(want, plan, observations, last)
    if (next === undefined) break
    last = next
    found += 1
  }
  const message = 'a bundle of the rotation or of its way back is not signed; hold a ceremony'
  const missing = wants
    .slice(found)
    .map(() => ({ code: 'CeremonyNeeded', about: 'trust roots', message }) as const)
  return gate('SIGNED', wants.length, missing)
}
