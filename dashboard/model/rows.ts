/** What the server tells of each node and request: src/dashboard/fleet/rows.ts. */
export type { LifeRow, NodeRow, RequestRow } from '../../src/dashboard/fleet/rows.ts'
