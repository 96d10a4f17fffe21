import { withIdentity } from '../../manifest/identity.ts'
import type { Container, PodSpec, StaticPod } from '../../pod.ts'

/** A static pod of one container, as it is on the node `node-a`. */
export function staticPod(container: Partial<Container> = {}, spec: Partial<PodSpec> = {}): StaticPod {
  return withIdentity(
    {
      apiVersion: 'v1',
      kind: 'Pod',
      metadata: { name: 'web', uid: 'u-1', labels: { app: 'web' } },
      spec: { hostNetwork: true, containers: [{ name: 'c', image: 'i:1', ...container }], ...spec },
    },
    { nodeName: 'node-a', path: '/m/web.yaml', seen: 0 },
  )
}
