import { createHash } from 'node:crypto'
import { annotations, type ManifestPod, type StaticPod } from '../pod.ts'

/** Namespace (RFC 9562) of the uids that static pods get. */
const uidNamespace = Buffer.from('6f9e2c1b3a5d4e1f8c0a7b2d4f6e8a90', 'hex')

export interface IdentityFacts {
  nodeName: string
  /** Path of the manifest. */
  path: string
  /** When it was first seen, milliseconds since the epoch. */
  seen: number
}

/**
 * The pod as it is on this node, as a kubelet names it: `NAME-NODE`, namespace `default`, bound to the node, with
 * Kubernetes' config annotations and the toleration of every NoExecute taint. Its uid, unless the manifest sets one, follows
 * from node, path and contents alone, so that it survives an update of the agent (a kubelet's does not) and changes with
 * an edit.
 */
export function withIdentity(pod: ManifestPod, { nodeName, path, seen }: IdentityFacts): StaticPod {
  const hash = nameBasedUuid(`${nodeName}\n${path}\n${canonicalJson(pod)}`)
  const { metadata, spec } = pod
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: {
      name: `${metadata.name}-${nodeName.toLowerCase()}`,
      namespace: metadata.namespace || 'default',
      uid: metadata.uid || hash,
      ...(metadata.labels && { labels: metadata.labels }),
      annotations: {
        ...metadata.annotations,
        [annotations.hash]: hash,
        [annotations.source]: /^https?:/.test(path) ? 'http' : 'file',
        [annotations.seen]: new Date(seen).toISOString(),
        [annotations.manifest]: path,
      },
    },
    spec: {
      ...spec,
      nodeName,
      tolerations: [...(spec.tolerations ?? []), { operator: 'Exists', effect: 'NoExecute' }],
    },
  }
}

/** JSON with sorted keys: the same contents give the same text. */
function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  )
}

/** UUID version 5 (RFC 9562). */
function nameBasedUuid(name: string): string {
  const bytes = createHash('sha1').update(uidNamespace).update(name).digest().subarray(0, 16)
  bytes[6] = ((bytes[6] ?? 0) & 0x0f) | 0x50
  bytes[8] = ((bytes[8] ?? 0) & 0x3f) | 0x80
  const hex = bytes.toString('hex')
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}
