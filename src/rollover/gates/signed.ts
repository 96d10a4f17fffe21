import { type BundleWant, bundleWith } from '../bundle-choice.ts'
import type { Observations } from '../observations.ts'
import type { Plan } from '../plan.ts'
import { type Gate, gate } from './gate.ts'

/** SIGNED: the trust roots have signed all bundles that the rotation and its way back need, so that it runs unattended. */
export function signedGate(plan: Plan, observations: Observations): Gate {
  const emergency = plan.reason === 'Compromise'
  return inOrder(
    'SIGNED',
    emergency ? ['narrow'] : ['wide', 'narrow', 'wide'],
    plan.bundle,
    plan,
    observations,
  )
}

/** WAYBACK: once the old CA is dropped there is a bundle to trust it again; earlier ways back may have used up some. */
export function wayBackGate(plan: Plan, observations: Observations): Gate {
  return inOrder('WAYBACK', ['narrow', 'wide'], plan.serverBundle ?? plan.bundle, plan, observations)
}

function inOrder(
  name: string,
  wants: readonly BundleWant[],
  from: number | undefined,
  plan: Plan,
  observations: Observations,
): Gate {
  let last = from
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
  return gate(name, wants.length, missing)
}
