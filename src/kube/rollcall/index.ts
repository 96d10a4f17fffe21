import type { RollcallKind } from './kind.ts'

/** All kinds of rollcall.dev. One file a kind beside this one; a new kind is one line here. */
export const rollcallKinds: readonly RollcallKind[] = []
