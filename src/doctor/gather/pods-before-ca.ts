/** Pods that may have read a CA bundle before its newest CA was in it. */
import { type KubeClient, listAll } from '../../kube/client.ts'
import { formatTime } from '../../kube/time-format.ts'
import { type KubeObject, resources } from '../../kube/types.ts'
import type { Gathered } from '../artifacts/artifacts.ts'
import type { PodsBeforeCa, PublishedRoot } from '../artifacts/cluster-artifacts.ts'
import { readBundle } from '../certificates.ts'
import { attempt } from './attempt.ts'

interface StartedPod extends KubeObject {
  status?: { phase?: string; startTime?: string }
}

/** Pods that are kept; the first thousand are as good as all of them. */
const most = 1000

/** Pods are asked for only while there are several CAs: a large cluster has a hundred thousand of them. */
export async function listPodsBeforeCa(
  client: KubeClient,
  roots: Gathered<PublishedRoot[]>,
): Promise<Gathered<PodsBeforeCa>> {
  if (roots.status !== 'ok') return roots
  const texts = new Set(roots.value.flatMap(({ pem }) => pem ?? []))
  const times = [...texts].flatMap(pem => readBundle(pem).certificates).map(({ notBefore }) => notBefore)
  const newest = Math.max(...times)
  if (new Set(times).size < 2) return { status: 'absent', reason: 'one CA is published, so none is new' }
  return attempt(async () => {
    const { items } = await listAll<StartedPod>(client, resources.pods, {}, undefined, started)
    const pods = items.flatMap(({ metadata: { namespace = '', name }, status }) =>
      status?.phase === 'Running' && Date.parse(status.startTime ?? '') < newest
        ? [{ namespace, name, started: status.startTime ?? '' }]
        : [],
    )
    return { notBefore: formatTime(newest), pods: pods.slice(0, most) }
  })
}

/** No more of a pod than is looked at, page by page. */
function started({ metadata: { name, namespace }, status }: StartedPod): StartedPod {
  const { phase = '', startTime = '' } = status ?? {}
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...(namespace && { namespace }) },
    status: { phase, startTime },
  }
}
