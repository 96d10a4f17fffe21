import { html, type View } from '../html.ts'
import type { NodeState } from '../model/node-state.ts'

type Stroke = [look: 'fill' | 'line' | 'cut' | 'line dashed', path: string]

const disc = 'M1.5 8a6.5 6.5 0 1 0 13 0a6.5 6.5 0 1 0-13 0z'
const ring = 'M2 8a6 6 0 1 0 12 0a6 6 0 1 0-12 0z'
const triangle = 'M8 1.8L15 14H1z'
const square =
  'M4 1.5h8a2.5 2.5 0 0 1 2.5 2.5v8a2.5 2.5 0 0 1-2.5 2.5h-8a2.5 2.5 0 0 1-2.5-2.5v-8a2.5 2.5 0 0 1 2.5-2.5z'
const octagon = 'M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2z'
const body =
  'M4.5 7h7a1.5 1.5 0 0 1 1.5 1.5v4a1.5 1.5 0 0 1-1.5 1.5h-7a1.5 1.5 0 0 1-1.5-1.5v-4a1.5 1.5 0 0 1 1.5-1.5z'
const tick = 'M5 8.2l2.1 2.1L11 6.3'

/**
 * Shapes that differ without their colour, in a box of 16 by 16. Two paths each, so that one becomes another without
 * anything being made or taken away.
 */
const shapes: Record<
  NodeState | 'critical' | 'warning' | 'info' | 'open' | 'closed',
  readonly [Stroke, Stroke]
> = {
  good: [
    ['fill', disc],
    ['cut', tick],
  ],
  due: [
    ['line', ring],
    ['fill', 'M8 2a6 6 0 0 1 0 12z'],
  ],
  waiting: [
    ['line', ring],
    ['line', 'M8 4.5V8l2.4 1.6'],
  ],
  late: [
    ['fill', triangle],
    ['cut', 'M8 6.2v3.6M8 11.9v.1'],
  ],
  expired: [
    ['fill', square],
    ['cut', 'M5.2 5.2l5.6 5.6M10.8 5.2l-5.6 5.6'],
  ],
  refused: [
    ['fill', octagon],
    ['cut', 'M4.6 8h6.8'],
  ],
  notready: [
    ['line', ring],
    ['line', 'M3.8 12.2l8.4-8.4'],
  ],
  none: [
    ['line dashed', ring],
    ['line', 'M8 8.8V8c1.6-.5 1.5-2.6 0-2.7-1 0-1.5.6-1.6 1.2M8 11v.1'],
  ],
  critical: [
    ['fill', square],
    ['cut', 'M8 4.4v4.4M8 11.4v.1'],
  ],
  warning: [
    ['fill', triangle],
    ['cut', 'M8 6.2v3.6M8 11.9v.1'],
  ],
  info: [
    ['line', ring],
    ['line', 'M8 7.4v3.8M8 4.8v.1'],
  ],
  open: [
    ['fill', disc],
    ['cut', tick],
  ],
  closed: [
    ['fill', body],
    ['line', 'M5 7V5a3 3 0 0 1 6 0v2'],
  ],
}

export type Shape = keyof typeof shapes

/** Says nothing to a screen reader: the word stands beside it. */
export function Glyph({ shape, tone = shape }: { shape: Shape; tone?: string }): View {
  const [[under, underPath], [over, overPath]] = shapes[shape]
  return html`<svg class=${`glyph tone-${tone}`} viewBox="0 0 16 16" aria-hidden="true"><path class=${under} d=${underPath} /><path class=${over} d=${overPath} /></svg>`
}
