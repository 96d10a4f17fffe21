import { html, type View } from '../html.ts'
import type { NodeState } from '../model/node-state.ts'

/** Shapes that differ without their colour, in a box of 16 by 16. */
const shapes: Record<NodeState | 'critical' | 'warning' | 'info' | 'open' | 'closed', View> = {
  good: html`<circle cx="8" cy="8" r="6.5" class="fill" /><path d="M5 8.2l2.1 2.1L11 6.3" class="cut" />`,
  due: html`<circle cx="8" cy="8" r="6" class="line" /><path d="M8 2a6 6 0 0 1 0 12z" class="fill" />`,
  waiting: html`<circle cx="8" cy="8" r="6" class="line" /><path d="M8 4.5V8l2.4 1.6" class="line" />`,
  late: html`<path d="M8 1.8L15 14H1z" class="fill" /><path d="M8 6.2v3.6M8 11.9v.1" class="cut" />`,
  expired: html`<rect x="1.5" y="1.5" width="13" height="13" rx="2.5" class="fill" /><path d="M5.2 5.2l5.6 5.6M10.8 5.2l-5.6 5.6" class="cut" />`,
  refused: html`<path d="M5.2 1.5h5.6l3.7 3.7v5.6l-3.7 3.7H5.2l-3.7-3.7V5.2z" class="fill" /><path d="M4.6 8h6.8" class="cut" />`,
  notready: html`<circle cx="8" cy="8" r="6" class="line" /><path d="M3.8 12.2l8.4-8.4" class="line" />`,
  none: html`<circle cx="8" cy="8" r="6" class="line dashed" /><path d="M8 8.8V8c1.6-.5 1.5-2.6 0-2.7-1 0-1.5.6-1.6 1.2M8 11v.1" class="line" />`,
  critical: html`<rect x="1.5" y="1.5" width="13" height="13" rx="2.5" class="fill" /><path d="M8 4.4v4.4M8 11.4v.1" class="cut" />`,
  warning: html`<path d="M8 1.8L15 14H1z" class="fill" /><path d="M8 6.2v3.6M8 11.9v.1" class="cut" />`,
  info: html`<circle cx="8" cy="8" r="6" class="line" /><path d="M8 7.4v3.8M8 4.8v.1" class="line" />`,
  open: html`<circle cx="8" cy="8" r="6.5" class="fill" /><path d="M5 8.2l2.1 2.1L11 6.3" class="cut" />`,
  closed: html`<rect x="3" y="7" width="10" height="7" rx="1.5" class="fill" /><path d="M5 7V5a3 3 0 0 1 6 0v2" class="line" />`,
}

export type Shape = keyof typeof shapes

/** Says nothing to a screen reader: the word stands beside it. */
export function Glyph({ shape, tone = shape }: { shape: Shape; tone?: string }): View {
  return html`<svg class=${`glyph tone-${tone}`} viewBox="0 0 16 16" aria-hidden="true">${shapes[shape]}</svg>`
}
