import type { RequestRow } from '../model/rows.ts'
import type { Shape } from '../parts/glyph.ts'

export const requestStates: Readonly<
  Record<RequestRow['state'], { label: string; shape: Shape; tone: string }>
> = {
  pending: { label: 'Pending', shape: 'waiting', tone: 'waiting' },
  held: { label: 'Held for people', shape: 'closed', tone: 'late' },
  approved: { label: 'Approved, not signed', shape: 'due', tone: 'due' },
  denied: { label: 'Denied', shape: 'refused', tone: 'refused' },
  failed: { label: 'Failed', shape: 'expired', tone: 'expired' },
  issued: { label: 'Issued', shape: 'good', tone: 'good' },
}
