/** Signed bundles as TrustBundle objects and back. */
import type { BundlePurpose, TrustBundleObject } from '../kube/rollcall/trust-bundle.ts'
import type { SignedBundle } from './accept-bundle.ts'
import { anchorsDigest, decodeBundle } from './bundle-text.ts'

/** Throws RangeError when the content is no bundle. */
export function bundleObject(signed: SignedBundle, purpose: BundlePurpose): TrustBundleObject {
  const content = decodeBundle(signed.content)
  if (content === undefined) throw new RangeError('no trust bundle in the text')
  const { role, generation, anchors } = content
  return {
    apiVersion: 'rollcall.dev/v1alpha1',
    kind: 'TrustBundle',
    metadata: { name: `${role}-${generation}` },
    spec: {
      role,
      generation,
      purpose,
      content: signed.content,
      signatures: signed.signatures.map(({ keyId, signature }) => ({
        keyId,
        signature: Buffer.from(signature).toString('base64'),
      })),
    },
    status: { digest: anchorsDigest(anchors), anchors: anchors.length },
  }
}

/** What the object carries, for `acceptBundle` to judge: its other fields are for people and count for nothing. */
export function signedBundleOf({ spec }: TrustBundleObject): SignedBundle {
  const signatures = spec.signatures.map(({ keyId, signature }) => ({
    keyId,
    signature: new Uint8Array(Buffer.from(signature, 'base64')),
  }))
  return { content: spec.content, signatures }
}
