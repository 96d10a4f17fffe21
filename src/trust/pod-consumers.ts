/**
 * Pods that take their trust in the API server from what is mounted: nobody sees what their programs have loaded, so a
 * restart after publication proves it (L2), or a named human's word does.
 */
import type { KubeObject } from '../kube/types.ts'
import type { ConsumerFacts } from '../rollover/observations.ts'
import { rootCaName } from './root-ca.ts'

export interface PodVolume {
  name?: string
  configMap?: { name?: string }
  secret?: { secretName?: string }
  projected?: { sources?: { configMap?: { name?: string }; secret?: { name?: string } }[] }
}

interface ContainerStatus {
  name: string
  restartCount?: number
  state?: { running?: { startedAt?: string } }
}

export interface ConsumingPod extends KubeObject {
  spec?: { nodeName?: string; volumes?: PodVolume[] }
  status?: { phase?: string; containerStatuses?: ContainerStatus[] }
}

export interface Published {
  /** Of the bundle that the places of pods hold. */
  generation: number
  /** Since when they are known to, in milliseconds since the epoch; absent: not known. */
  at?: number
  /** Names (NAMESPACE/NAME) of the Secrets that carry a service account's token. */
  tokenSecrets: ReadonlySet<string>
  now: number
}

/** Milliseconds until a volume on a node says what the API says: the kubelet's sync and its cache (row 10 of the consumers). */
export const volumeLag = 2 * 60_000

/** Id of a Pod, the same by which one is known that was seen at the API server. */
export function podId(name: string, uid: string): string {
  return `pod/${name} ${uid}`
}

/** Those that mount a CA of the cluster and have not ended. */
export function podConsumers(pods: readonly ConsumingPod[], published: Published): ConsumerFacts[] {
  return pods.flatMap(pod => {
    const ended = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed'
    return ended || !takesTrust(pod, published.tokenSecrets) ? [] : [consumerOf(pod, published)]
  })
}

function consumerOf(pod: ConsumingPod, { generation, at, now }: Published): ConsumerFacts {
  const { metadata, spec, status } = pod
  const uid = metadata.uid ?? metadata.name
  const containers = status?.containerStatuses ?? []
  const instance = [uid, ...containers.map(({ name, restartCount = 0 }) => `${name}:${restartCount}`)].join(
    ' ',
  )
  const starts = containers.map(({ state }) => Date.parse(state?.running?.startedAt ?? ''))
  // Every container: a side-car that was not restarted has loaded what it had.
  const isNewer =
    at !== undefined && starts.length > 0 && starts.every(startedAt => startedAt >= at + volumeLag)
  return {
    id: podId(metadata.name, uid),
    kind: 'Pod',
    roles: ['apiserver-serving'],
    instance,
    lastSeen: now,
    orderable: false,
    reloads: false,
    ...(spec?.nodeName !== undefined && { node: spec.nodeName }),
    // That its processes are newer is true as long as they live.
    ...(isNewer && { proof: { level: 2 as const, generation, instance, at: now } }),
  }
}

function takesTrust({ metadata, spec }: ConsumingPod, tokenSecrets: ReadonlySet<string>): boolean {
  const isToken = (name: string | undefined) => tokenSecrets.has(`${metadata.namespace ?? ''}/${name}`)
  return (spec?.volumes ?? []).some(({ configMap, secret, projected }) => {
    if (configMap?.name === rootCaName || isToken(secret?.secretName)) return true
    return (projected?.sources ?? []).some(source => {
      return source.configMap?.name === rootCaName || isToken(source.secret?.name)
    })
  })
}
