/** Who verifies by the CA of a role, and whether each has proven to trust the one that comes: read with a viewer's rights. */
import { type KubeClient, listAll } from '../kube/client.ts'
import { type CARotationObject, caRotation } from '../kube/rollcall/ca-rotation.ts'
import { type TrustBundleObject, type TrustRole, trustBundle } from '../kube/rollcall/trust-bundle.ts'
import { type TrustConsumerObject, trustConsumer } from '../kube/rollcall/trust-consumer.ts'
import { authorityName } from '../rollover/bridge.ts'
import type { BundleFacts } from '../rollover/observations.ts'
import type { Plan } from '../rollover/plan.ts'
import { consumerReadiness, type Readiness } from '../rollover/readiness.ts'
import { consumerOf, type RoleObjects } from '../rollover/readiness-facts.ts'
import { anchorsDigest, decodeBundle } from '../trust/bundle-text.ts'
import { parseCertificate } from '../x509/certificate.ts'
import { commonName } from '../x509/name.ts'

export async function roleObjects(client: KubeClient): Promise<RoleObjects> {
  const [consumers, bundles, rotations] = await Promise.all([
    listAll<TrustConsumerObject>(client, trustConsumer.ref),
    listAll<TrustBundleObject>(client, trustBundle.ref),
    listAll<CARotationObject>(client, caRotation.ref),
  ])
  return { consumers: consumers.items, bundles: bundles.items, rotations: rotations.items }
}

/** `now` in milliseconds since the epoch. */
export function consumersFor(
  plan: Plan,
  { consumers, bundles }: RoleObjects,
  now: number,
): Omit<Readiness, 'blockers'> {
  return consumerReadiness(plan, {
    consumers: consumers.map(object => consumerOf(object, plan.role)),
    bundles: bundles.flatMap(bundle => bundleFacts(bundle, plan.role)),
    now,
  })
}

/** CAs are told apart by their names: all but the first have their number in it. */
function bundleFacts({ spec }: TrustBundleObject, role: TrustRole): BundleFacts[] {
  const content = spec.role === role ? decodeBundle(spec.content) : undefined
  if (!content) return []
  const anchors = content.anchors.map(der => {
    const name = commonName(parseCertificate(der).subject)
    const number = Number(/-(\d+)$/.exec(name)?.[1] ?? 1)
    return name === authorityName(role, number) ? number : 1
  })
  return [{ generation: content.generation, digest: anchorsDigest(content.anchors), anchors }]
}
