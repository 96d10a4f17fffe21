/** Keys, the signer's pointer, and the renewal of leaves. */
import { isPresented } from '../gates/served.ts'
import { stateOf } from '../standing.ts'
import type { Effect } from './effect.ts'
import type { Situation } from './situation.ts'

/** Prepared: key and certificate of the new CA, and each CA signed by the other. */
export function preparing({ plan, seen }: Situation): Effect[] {
  if (plan.phase !== 'Prepared') return []
  const { artefacts } = seen
  const { from, to, policy } = plan
  if (!artefacts.newCa) return [{ kind: 'create-authority', authority: to }]
  if (policy.bridge !== 'CrossSigned') return []
  const effects: Effect[] = []
  if (!artefacts.newByOld) effects.push({ kind: 'cross-sign', subject: to, issuer: from })
  if (!artefacts.oldByNew) effects.push({ kind: 'cross-sign', subject: from, issuer: to })
  return effects
}

/**
 * I4: the new CA signs only while every verifier has loaded it, the old one only where servers accept it. Servers are asked
 * beside the consumers that they are: one that a human has excluded still judges when it is back.
 */
export function signing(situation: Situation): Effect[] {
  const { seen, desired } = situation
  const wanted = desired.signer
  if (wanted === undefined) return []
  const effects: Effect[] = desired.freeze ? [{ kind: 'freeze-approval' }] : []
  const { authority, mode = 'old', canaryAccepted } = seen.signer
  const { authority: next } = wanted
  if (next === undefined)
    return authority === undefined ? effects : [...effects, { kind: 'sign-with', ...wanted }]
  const signs =
    authority !== undefined && isPresented({ authority, mode }, { authority: next, mode: wanted.mode })
  if (!signs) return authority === next || maySign(next, situation) ? [{ kind: 'sign-with', ...wanted }] : []
  return canaryAccepted.includes(next) ? [] : [{ kind: 'try-canary', authority: next }]
}

function maySign(
  authority: number,
  { plan, emergency, newIsTrusted, newIsAccepted, oldIsAccepted }: Situation,
) {
  if (emergency) return true
  return authority === plan.to ? newIsTrusted() && newIsAccepted() : oldIsAccepted()
}

/** Who holds a leaf that should go, and can renew it now. */
export function waitingForRenewal({ plan, seen, desired, jury }: Situation): string[] {
  const { renew } = desired
  const { signer, leaves, now, consumers } = seen
  if (renew === undefined || signer.authority === undefined || signer.authority === renew) return []
  const away = new Set(
    consumers
      .filter(consumer => stateOf(consumer, jury.excluded, now, plan.policy.timings) !== 'Live')
      .map(({ id }) => id),
  )
  return (leaves.holders.get(renew) ?? [])
    .filter(({ holder, notAfter, renewable }) => renewable && notAfter > now && !away.has(holder))
    .map(({ holder }) => holder)
}

/** Who keeps a connection from before its renewal shows the old chain still: it is closed, and made anew. */
export function reconnecting({ plan, seen, desired }: Situation): Effect[] {
  const { renew } = desired
  if (renew === undefined || (seen.leaves.holders.get(renew) ?? []).length > 0) return []
  const used = Math.max(Number.NEGATIVE_INFINITY, ...(seen.leaves.lastUsed.get(renew)?.values() ?? []))
  const lately = seen.now - used < plan.policy.timings.quiet
  return lately ? [{ kind: 'close-connections', authority: renew }] : []
}
