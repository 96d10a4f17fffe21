import { html, type View } from '../html.ts'
import { left } from '../model/format.ts'
import { certificateState, usedPart } from '../model/node-state.ts'
import type { LifeRow } from '../model/rows.ts'

const tones = { expired: 'expired', future: 'late', late: 'late', due: 'due', good: 'good', none: 'none' }

/**
 * How much of a certificate's life is over; the part in which it is renewed is marked by the style sheet. One element, since
 * thousands of them pass by when somebody scrolls. The words stand beside it.
 */
export function AgeBar({ kind, life, now }: { kind: string; life: LifeRow | 0; now: number }): View {
  const state = certificateState(life, now)
  const used = life === 0 ? 0 : Math.min(1, Math.max(0, usedPart(life, now)))
  return html`<span class="age">
    <span class="age-kind">${kind}</span>
    <i class=${`age-track tone-${tones[state]}`} style=${{ '--used': `${(used * 100).toFixed(1)}%` }} aria-hidden="true" />
    <span class="age-left">${text(life, state, now)}</span>
  </span>`
}

function text(life: LifeRow | 0, state: string, now: number): string {
  if (life === 0) return 'not known'
  return state === 'future' ? 'not yet valid' : left(life[1], now)
}
