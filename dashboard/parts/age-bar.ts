import { html, type View } from '../html.ts'
import { left } from '../model/format.ts'
import { certificateState, rotationWindow, usedPart } from '../model/node-state.ts'
import type { LifeRow } from '../model/rows.ts'

const tones = { expired: 'expired', future: 'late', late: 'late', due: 'due', good: 'good', none: 'none' }

/** How much of a certificate's life is over, with the part in which it is renewed. The words stand beside it. */
export function AgeBar({ kind, life, now }: { kind: string; life: LifeRow | 0; now: number }): View {
  const state = certificateState(life, now)
  const used = life === 0 ? 0 : Math.min(1, Math.max(0, usedPart(life, now)))
  return html`<span class="age">
    <span class="age-kind">${kind}</span>
    <span class="age-track" aria-hidden="true">
      <i class="age-window" style=${windowStyle} />
      <i class=${`age-used tone-${tones[state]}`} style=${{ transform: `scaleX(${used.toFixed(3)})` }} />
    </span>
    <span class="age-left">${text(life, state, now)}</span>
  </span>`
}

const windowStyle = {
  left: `${rotationWindow.from * 100}%`,
  width: `${(rotationWindow.to - rotationWindow.from) * 100}%`,
}

function text(life: LifeRow | 0, state: string, now: number): string {
  if (life === 0) return 'not known'
  return state === 'future' ? 'not yet valid' : left(life[1], now)
}
