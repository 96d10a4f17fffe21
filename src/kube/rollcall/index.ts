import { caRotation } from './ca-rotation.ts'
import { certificatePolicyKind } from './certificate-policy.ts'
import type { RollcallKind } from './kind.ts'
import { nodeIdentity } from './node-identity.ts'
import { trustBundle } from './trust-bundle.ts'
import { trustConsumer } from './trust-consumer.ts'

/** All kinds of rollcall.dev. One file a kind beside this one; a new kind is one line here. */
export const rollcallKinds: readonly RollcallKind[] = [
  caRotation,
  certificatePolicyKind,
  nodeIdentity,
  trustBundle,
  trustConsumer,
]
