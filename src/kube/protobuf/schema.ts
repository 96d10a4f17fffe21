/** Turns the text tables of messages.ts into lookups by message and field number. */
import { clusterMessages } from './cluster-messages.ts'
import { messages } from './messages.ts'
import { workloadMessages } from './workload-messages.ts'

export interface Field {
  name: string
  /** `string`, `int`, `bool`, `bytes`, a message of the tables, or a name of well-known.ts. */
  type: string
  shape: 'single' | 'list' | 'map'
  /** A pointer in Go: '' and 0 and false are values, not absence. */
  pointer: boolean
  /** The message's fields belong to the parent. */
  inline: boolean
}

export type Message = ReadonlyMap<number, Field>

const fieldSyntax =
  /^(?<inline>\^?)(?<name>\w+)=(?<number>\d+)(:(?<shape>\[\]|\{\})?(?<type>\w*)(?<pointer>\??))?$/

function parseField(text: string): [number, Field] {
  const parts = fieldSyntax.exec(text)?.groups
  if (!parts?.name) throw new Error(`protobuf table: cannot read the field ${text}`)
  const shapes: Record<string, Field['shape']> = { '[]': 'list', '{}': 'map' }
  return [
    Number(parts.number),
    {
      name: parts.name,
      type: parts.type || 'string',
      shape: shapes[parts.shape ?? ''] ?? 'single',
      pointer: parts.pointer === '?',
      inline: parts.inline === '^',
    },
  ]
}

function parseTable(text: string): [string, Message][] {
  return text
    .trim()
    .replaceAll('\n  ', ' ')
    .split('\n')
    .map(line => {
      const [name = '', ...fields] = line.split(' ')
      return [name, new Map(fields.map(parseField))]
    })
}

const byName: ReadonlyMap<string, Message> = new Map([
  ...parseTable(messages),
  ...parseTable(workloadMessages),
  ...parseTable(clusterMessages),
])

export function messageNamed(name: string): Message | undefined {
  return byName.get(name)
}

const authorization = [
  'SubjectAccessReview',
  'SelfSubjectAccessReview',
  'LocalSubjectAccessReview',
  'SelfSubjectRulesReview',
]

/** Which kinds are decoded, by apiVersion. DeleteOptions comes under the version of whatever is deleted. */
const kindsByVersion: Readonly<Record<string, readonly string[]>> = {
  v1: ['Node', 'Event', 'Secret', 'ConfigMap', 'Namespace', 'ServiceAccount', 'Pod', 'Service', 'Endpoints'],
  'certificates.k8s.io/v1': ['CertificateSigningRequest'],
  'certificates.k8s.io/v1beta1': ['ClusterTrustBundle'],
  'discovery.k8s.io/v1': ['EndpointSlice'],
  'node.k8s.io/v1': ['RuntimeClass'],
  'resource.k8s.io/v1': ['ResourceSlice'],
  'coordination.k8s.io/v1': ['Lease'],
  'authorization.k8s.io/v1': authorization,
  'authentication.k8s.io/v1': ['TokenReview', 'TokenRequest', 'SelfSubjectReview'],
  'rbac.authorization.k8s.io/v1': ['Role', 'ClusterRole', 'RoleBinding', 'ClusterRoleBinding'],
  'storage.k8s.io/v1': ['CSINode', 'CSIDriver'],
}

/** The message of an object of this apiVersion and kind, or undefined for what is not decoded. */
export function messageOfKind(apiVersion: string, kind: string): Message | undefined {
  if (kind === 'DeleteOptions') return byName.get(kind)
  const kinds = Object.hasOwn(kindsByVersion, apiVersion) ? kindsByVersion[apiVersion] : undefined
  return kinds?.includes(kind) ? byName.get(kind) : undefined
}
