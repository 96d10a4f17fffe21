/** Since when pods of the embedded cluster mount the bundle that is published: known to this process, which may have begun later. */
import type { ObjectReader } from '../../apiserver/reader.ts'
import { type ConfigMap, type Namespace, resources, type Secret } from '../../kube/types.ts'
import type { ConsumerFacts } from '../../rollover/observations.ts'
import { type ConsumingPod, podConsumers } from '../../trust/pod-consumers.ts'
import { rootCaName } from '../../trust/root-ca.ts'
import { authoritiesInTokens, serviceAccountTokenType } from '../../trust/token-secrets.ts'

export class PodPublication {
  #seen: { generation: number; at: number } | undefined

  /**
   * Pods that mount a CA of the cluster, proven where they were started after every place that they mount held the bundle
   * (`pem`, of this generation). `now` in milliseconds since the epoch.
   */
  consumers(reader: ObjectReader, bundle: { generation: number; pem: string }, now: number): ConsumerFacts[] {
    const { generation, pem } = bundle
    const secrets = reader.list<Secret>(resources.secrets)
    const places = [...rootCertificates(reader), ...authoritiesInTokens(secrets)]
    const holds = places.every(text => text === pem)
    if (!holds) this.#seen = undefined
    else if (this.#seen?.generation !== generation) this.#seen = { generation, at: now }
    const tokens = secrets.filter(({ type }) => type === serviceAccountTokenType)
    return podConsumers(reader.list<ConsumingPod>(resources.pods), {
      generation,
      ...(this.#seen && { at: this.#seen.at }),
      tokenSecrets: new Set(tokens.map(({ metadata }) => `${metadata.namespace}/${metadata.name}`)),
      now,
    })
  }
}

function rootCertificates(reader: ObjectReader): string[] {
  const active = reader
    .list<Namespace>(resources.namespaces)
    .filter(({ status }) => (status?.phase ?? 'Active') === 'Active')
  return active.map(({ metadata }) => {
    return reader.get<ConfigMap>(resources.configMaps, rootCaName, metadata.name)?.data?.['ca.crt'] ?? ''
  })
}

/** A pod that was seen at the API server and one that mounts its CA are one: what proves more of it counts. */
export function withSeen(
  pods: readonly ConsumerFacts[],
  strangers: readonly ConsumerFacts[],
): ConsumerFacts[] {
  const seen = new Map(strangers.map(stranger => [stranger.id, stranger]))
  const merged = pods.map((pod): ConsumerFacts => {
    const stranger = seen.get(pod.id)
    if (!stranger) return pod
    if (!pod.proof) return { ...stranger, ...(pod.node !== undefined && { node: pod.node }) }
    return { ...pod, ...(stranger.lastFailure !== undefined && { lastFailure: stranger.lastFailure }) }
  })
  const mounting = new Set(pods.map(({ id }) => id))
  return [...merged, ...strangers.filter(({ id }) => !mounting.has(id))]
}
