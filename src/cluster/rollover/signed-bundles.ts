/** The bundles that trust roots have signed, as TrustBundle objects; what of them the embedded API uses. */
import type { ObjectReader } from '../../apiserver/reader.ts'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { type TrustBundleObject, type TrustRole, trustBundle } from '../../kube/rollcall/trust-bundle.ts'
import type { BundleFacts } from '../../rollover/observations.ts'
import { bundleObject, signedBundleOf } from '../../trust/bundle-object.ts'
import { anchorsDigest, decodeBundle } from '../../trust/bundle-text.ts'
import { plannedBundles, signBundles } from '../../trust/ceremony.ts'
import { whyNotSigned } from '../../trust/trust-roots.ts'
import { encodePem } from '../../x509/pem.ts'
import type { CaStore } from './ca-store.ts'
import type { OpenTrustRoots } from './trust-root.ts'

export interface KnownBundle extends BundleFacts {
  pem: string
}

/** Of the role, by generation, those that enough roots have signed. */
export function signedBundles(
  role: TrustRole,
  { reader, roots, cas }: { reader: ObjectReader; roots: OpenTrustRoots; cas: CaStore },
): Map<number, KnownBundle> {
  const known = new Map<number, KnownBundle>()
  for (const object of reader.list<TrustBundleObject>(trustBundle.ref)) {
    const signed = signedBundleOf(object)
    const content = decodeBundle(signed.content)
    if (!content || content.role !== role || content.cluster !== roots.roots.cluster) continue
    if (whyNotSigned(signed.content, signed.signatures, roots.roots) !== undefined) continue
    const anchors = content.anchors.flatMap(der => cas.generationOf(role, der) ?? [])
    // A CA that is none of ours would be trusted by whoever takes the bundle, and by no gate.
    if (anchors.length !== content.anchors.length) continue
    const { generation } = content
    const pem = content.anchors.map(der => encodePem('CERTIFICATE', der)).join('')
    known.set(generation, { generation, digest: anchorsDigest(content.anchors), anchors, pem })
  }
  return known
}

const day = 86_400_000
const validity = 3650 * day

/**
 * Has the root that is online sign what the rollover to the last of these CAs needs, after the highest generation that is
 * there. Does nothing where the roots' key is elsewhere.
 */
export async function holdCeremony(
  role: TrustRole,
  generations: readonly number[],
  {
    client,
    reader,
    roots,
    cas,
    now,
  }: {
    client: KubeClient
    reader: ObjectReader
    roots: OpenTrustRoots
    cas: CaStore
    now: number
  },
): Promise<void> {
  if (!roots.signer) return
  const authorities = generations.flatMap(
    generation => cas.authority(role, generation)?.certificate.raw ?? [],
  )
  const numbers = reader
    .list<TrustBundleObject>(trustBundle.ref)
    .flatMap(({ spec }) => (spec.role === role ? spec.generation : 0))
  const notBefore = Math.floor(now / 1000) * 1000 - day
  const planned = plannedBundles({
    cluster: roots.roots.cluster,
    role,
    lastGeneration: Math.max(0, ...numbers),
    authorities,
    notBefore,
    notAfter: notBefore + validity,
  })
  for (const bundle of await signBundles(planned, [roots.signer], roots.roots)) {
    const object = bundleObject(bundle, bundle.purpose)
    try {
      await client.create(trustBundle.ref, object)
    } catch (error) {
      // A ceremony that a crash cut short goes on with the next generations.
      if (!isStatus(error, 'AlreadyExists')) throw error
    }
  }
}
