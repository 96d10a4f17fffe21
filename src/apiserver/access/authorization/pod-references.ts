/** Which objects of its namespace a pod needs on its node: what makes them readable there. */
import type { KubeObject } from '../../../kube/types.ts'

type Fields = Readonly<Record<string, unknown>>

/** The fields of a Pod that name other objects; what is not of this form names nothing. */
export interface ReferringPod extends KubeObject {
  spec?: {
    nodeName?: string
    serviceAccountName?: string
    imagePullSecrets?: { name?: string }[]
    volumes?: Fields[]
    containers?: Fields[]
    initContainers?: Fields[]
    ephemeralContainers?: Fields[]
  }
}

export interface PodReferences {
  secrets: readonly string[]
  configmaps: readonly string[]
  serviceaccounts: readonly string[]
}

const nothing: PodReferences = { secrets: [], configmaps: [], serviceaccounts: [] }

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)
const at = (value: unknown, ...path: string[]): unknown =>
  path.reduce<unknown>((inside, key) => (isFields(inside) ? inside[key] : undefined), value)
const listAt = (value: unknown, ...path: string[]): readonly unknown[] => {
  const list = at(value, ...path)
  return Array.isArray(list) ? list : []
}

/** Where a volume source names a Secret: VisitPodSecretNames of Kubernetes. */
const secretPaths = [
  ['secret', 'secretName'],
  ['azureFile', 'secretName'],
  ['csi', 'nodePublishSecretRef', 'name'],
  ...['cephfs', 'cinder', 'flexVolume', 'iscsi', 'rbd', 'scaleIO', 'storageos'].map(source => [
    source,
    'secretRef',
    'name',
  ]),
]

/** None for a mirror pod: it came from the node itself, which must not open anything by it. */
export function podReferences({ metadata, spec = {} }: ReferringPod): PodReferences {
  if (metadata.annotations && Object.hasOwn(metadata.annotations, 'kubernetes.io/config.mirror'))
    return nothing
  const volumes = spec.volumes ?? []
  const projected = volumes.flatMap(volume => listAt(volume, 'projected', 'sources'))
  const containers = [spec.containers, spec.initContainers, spec.ephemeralContainers].flatMap(
    list => list ?? [],
  )
  const env = containers.flatMap(container => listAt(container, 'env'))
  const envFrom = containers.flatMap(container => listAt(container, 'envFrom'))
  return {
    secrets: names([
      ...(spec.imagePullSecrets ?? []).map(({ name }) => name),
      ...volumes.flatMap(volume => secretPaths.map(path => at(volume, ...path))),
      ...projected.map(source => at(source, 'secret', 'name')),
      ...env.map(one => at(one, 'valueFrom', 'secretKeyRef', 'name')),
      ...envFrom.map(one => at(one, 'secretRef', 'name')),
    ]),
    configmaps: names([
      ...volumes.map(volume => at(volume, 'configMap', 'name')),
      ...projected.map(source => at(source, 'configMap', 'name')),
      ...env.map(one => at(one, 'valueFrom', 'configMapKeyRef', 'name')),
      ...envFrom.map(one => at(one, 'configMapRef', 'name')),
    ]),
    serviceaccounts: names([spec.serviceAccountName]),
  }
}

const names = (values: readonly unknown[]): string[] => [
  ...new Set(values.filter(value => typeof value === 'string' && value !== '').map(String)),
]
