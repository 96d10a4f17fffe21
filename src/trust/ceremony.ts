/**
 * What trust roots sign at one meeting, so that the next rollovers need none: for each, the bundle with old and new CA,
 * the one without the old, and the way back and forth again.
 */
import { RollcallError } from '../errors.ts'
import type { Signer } from '../keys/signer.ts'
import type { BundlePurpose, TrustRole } from '../kube/rollcall/trust-bundle.ts'
import { readAnchors, type SignedBundle } from './accept-bundle.ts'
import { encodeBundle } from './bundle-text.ts'
import { rootKeyId, signAsRoot, type TrustRoots } from './trust-roots.ts'

export interface CeremonyOrder {
  cluster: string
  role: TrustRole
  /** The highest generation ever signed for this role; 0 before the first. */
  lastGeneration: number
  /**
   * DER of the CAs in the order in which they will sign: the active one, those that are trusted in advance already, then
   * the new ones. Each rollover goes one further.
   */
  authorities: readonly Uint8Array[]
  /** When the bundles count, in milliseconds since the epoch (whole seconds). */
  notBefore: number
  notAfter: number
}

export interface PlannedBundle {
  purpose: BundlePurpose
  generation: number
  /** To be signed. */
  content: string
}

/**
 * The bundles to sign, in the order of their generations: the steady one (active and next CA), then four for each
 * rollover. The CA after next joins while a rollover widens, so that there is always one trusted in advance (P7).
 * Throws RollcallError TRUST_CEREMONY_INVALID for CAs that cannot be anchors.
 */
export function plannedBundles(order: CeremonyOrder): PlannedBundle[] {
  const { authorities, lastGeneration, ...common } = order
  const anchors = readAnchors(authorities)
  if (typeof anchors === 'string')
    throw new RollcallError('TRUST_CEREMONY_INVALID', `nothing was signed: ${anchors}.`)
  if (anchors.length === 0)
    throw new RollcallError('TRUST_CEREMONY_INVALID', 'nothing was signed: no CA was given.')
  const outlived = anchors.find(({ notAfter }) => notAfter <= order.notBefore)
  if (outlived) throw new RollcallError('TRUST_CEREMONY_INVALID', 'nothing was signed: a CA has expired.')
  const rounds = authorities.slice(1).flatMap((_, from) => {
    const wide = authorities.slice(from, from + 3)
    const narrow = authorities.slice(from + 1, from + 3)
    return [set('Widened', wide), set('Narrowed', narrow), set('Restored', wide), set('Narrowed', narrow)]
  })
  return [set('Steady', authorities.slice(0, 2)), ...rounds].map(({ purpose, members }, index) => {
    const generation = lastGeneration + 1 + index
    return { purpose, generation, content: encodeBundle({ ...common, generation, anchors: members }) }
  })
}

function set(purpose: BundlePurpose, members: readonly Uint8Array[]) {
  return { purpose, members }
}

/**
 * Each planned bundle with the signatures of the roots that are present. Fewer than the threshold are fine: signatures
 * of a second meeting are added by `withSignatures`. Throws TRUST_CEREMONY_INVALID for a key that is no trust root.
 */
export async function signBundles(
  planned: readonly PlannedBundle[],
  present: readonly Signer[],
  roots: TrustRoots,
): Promise<(PlannedBundle & SignedBundle)[]> {
  const known = new Set(roots.keys.map(rootKeyId))
  if (!present.every(({ publicKey }) => known.has(rootKeyId(publicKey))))
    throw new RollcallError(
      'TRUST_CEREMONY_INVALID',
      'nothing was signed: a key is no trust root of this cluster.',
    )
  const sign = async (bundle: PlannedBundle) => {
    const signatures = await Promise.all(present.map(root => signAsRoot(bundle.content, root)))
    return { ...bundle, signatures }
  }
  return Promise.all(planned.map(sign))
}

/** The bundle with the signatures of both: two meetings over the same text. Throws TRUST_CEREMONY_INVALID otherwise. */
export function withSignatures(one: SignedBundle, other: SignedBundle): SignedBundle {
  if (one.content !== other.content)
    throw new RollcallError('TRUST_CEREMONY_INVALID', 'the signatures are over different bundles.')
  const have = new Set(one.signatures.map(({ keyId }) => keyId))
  const added = other.signatures.filter(({ keyId }) => !have.has(keyId))
  return { content: one.content, signatures: [...one.signatures, ...added] }
}
