/** The schema of a CertificatePolicy: the CustomResourceDefinition, the check of a file and the reference page come from it. */
import type { StructuralSchema } from '../kind.ts'
import { actionableReasons, actions, evidenceLevels, keyTypes, modes, presets } from './spec.ts'

// Bounds on everything: a policy is judged against each request, and a cluster's other objects share its storage.
const maxRanges = 256
const maxName = 253

const text = (description: string, maxLength = maxName): StructuralSchema => ({
  type: 'string',
  description,
  minLength: 1,
  maxLength,
})
const texts = (description: string, maxItems: number): StructuralSchema => ({
  type: 'array',
  description,
  maxItems,
  items: { type: 'string', minLength: 1, maxLength: maxName },
})
const oneOf = (description: string, values: readonly string[]): StructuralSchema => ({
  type: 'string',
  description,
  enum: values,
})
const count = (description: string, maximum: number): StructuralSchema => ({
  type: 'integer',
  description,
  minimum: 1,
  maximum,
})
const map = (description: string): StructuralSchema => ({
  type: 'object',
  description,
  additionalProperties: { type: 'string', maxLength: maxName },
})
const year = 31_622_400

const terms: Readonly<Record<string, StructuralSchema>> = {
  evidence: oneOf(
    'The level at which every SAN of a serving request must be proven. NodeStatus: on the Node’s status.addresses, which the node writes itself; it stops mistakes, not a thief. ProtectedNodeStatus: the same, counted only while deploy/admission/protect-node-addresses.yaml is seen in force. Inventory: in the inventory, which nodes cannot write.',
    evidenceLevels,
  ),
  mode: oneOf(
    'enforce: verdicts are written. manual: what would be approved waits for a person. dryRun: verdicts are only told, nothing is approved or denied. Default enforce.',
    modes,
  ),
  sans: {
    type: 'object',
    description: 'What SANs must be besides proven.',
    properties: {
      dnsNames: texts(
        'DNS SANs allowed: `worker-1.example.net`, or `*.example.net` for exactly one label before it. Absent: all.',
        maxRanges,
      ),
      ipRanges: texts('CIDRs that IP SANs must lie in. Absent: all.', maxRanges),
      maxCount: count('SANs that one certificate may have.', 1000),
    },
  },
  keys: {
    type: 'array',
    description: 'Key types allowed. Absent: all that are not weak.',
    minItems: 1,
    maxItems: keyTypes.length,
    items: { type: 'string', enum: keyTypes },
  },
  keyEncipherment: oneOf('Whether the usage key encipherment may be asked for. Default allow.', [
    'allow',
    'deny',
  ]),
  lifetime: {
    type: 'object',
    description:
      'What spec.expirationSeconds of a request may be. A request without it gets the signer’s lifetime, of which Rollcall’s signer gives no more than maxSeconds; where another one signs, maxSeconds denies such requests.',
    properties: {
      minSeconds: count('The shortest, seconds.', year),
      maxSeconds: count('The longest, seconds.', year),
    },
  },
  approvalsPerHour: count('Approvals an hour that one node may have of one signer. Default 120.', 100_000),
}

const pool: StructuralSchema = {
  type: 'object',
  description:
    'Terms for some nodes, selected by what a node cannot change. All selectors given must fit. A node in several pools gets the strictest of each term.',
  required: ['name'],
  properties: {
    name: text('Unique among the pools; verdicts name it.', 63),
    nodeLabels: map(
      'All of them on the Node. Only labels under node-restriction.kubernetes.io/, which a node cannot change on itself.',
    ),
    inventoryAttributes: map('All of them in the inventory’s entry for the node.'),
    bootstrapGroups: texts(
      'The bootstrap credential that asks is in one of these groups. Fits first client requests only: a node that has its identity asks without that credential.',
      16,
    ),
    ...terms,
  },
}

export const policySpecSchema: StructuralSchema = {
  type: 'object',
  description: 'How requests of kubelets are judged.',
  properties: {
    preset: oneOf(
      'Where the other fields start from; each can be set otherwise. strict: ProtectedNodeStatus, P-256/P-384/Ed25519 keys, no bootstrap of a node that is there. inventory: evidence Inventory from ConfigMap kube-system/rollcall-inventory. lab: evidence NodeStatus, addresses are free at once.',
      presets,
    ),
    shadowOf: text(
      'Name of the policy beside which this one is only evaluated. It is never enforced; what it would decide otherwise is counted, logged and reported in its status.',
    ),
    ...terms,
    trustOlderNodes: {
      type: 'boolean',
      description:
        'For ProtectedNodeStatus: whether addresses count of Nodes that were there before the protection was. They may have been written by the node. Default false.',
    },
    pools: {
      type: 'array',
      description: 'Terms for some nodes. A node in none is judged by the policy’s own.',
      maxItems: 64,
      items: pool,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['name'],
    },
    inventory: {
      type: 'object',
      description: 'Where the inventory is: exactly one of the fields.',
      properties: {
        configMap: text('`namespace/name`'),
        secret: text('`namespace/name`'),
        file: text(
          'A path on the controller’s disk; in a policy file only: who writes policies does not choose what the controller reads.',
          4096,
        ),
      },
    },
    allowedRanges: texts(
      'CIDRs whose loopback, link-local and similar addresses, and those that Services publish, may be certified all the same.',
      4096,
    ),
    serviceRanges: texts('The cluster’s service CIDRs: never certified for a node.', maxRanges),
    podRanges: texts('The cluster’s pod CIDRs: never certified for a node.', maxRanges),
    apiServers: texts(
      'Names and addresses of the API servers and their load balancer: never certified for a node.',
      maxRanges,
    ),
    clusterDomain: text('Default cluster.local.'),
    waitSeconds: count(
      'Seconds after creation that a request may wait for its Node and addresses. Default 300, below the kubelet’s 900.',
      86_400,
    ),
    bootstrapGroups: texts(
      'Groups whose members may ask for a first client certificate. Default system:bootstrappers.',
      16,
    ),
    bootstrap: oneOf(
      'What a bootstrap identity has to be known by. Credential: its credential alone, as on Kubernetes. Inventory: an entry for the node in the inventory or an evidence source too, that is neither Pending nor Deleting; who is not known waits. Default Credential.',
      ['Credential', 'Inventory'],
    ),
    joinWindowSeconds: count(
      'For bootstrap Inventory: seconds after `machine.created` of the entry within which a node may ask for its first certificate; ten seconds before it are granted to clocks. Default 7200.',
      year,
    ),
    rebootstrap: oneOf(
      'Whether a bootstrap identity may ask for a node whose Node is there, or whose machine has joined by the inventory. Default allow; with bootstrap Inventory deny.',
      ['allow', 'deny'],
    ),
    releasedAddresses: oneOf(
      'Whether an address that a node gave up stays its own while its certificate lives. Default held.',
      ['held', 'free'],
    ),
    evidenceFrom: texts(
      'Names of evidence sources (webhooks, programs) that the controller’s own file defines (--evidence-config). What they say counts as Inventory; one that cannot be asked keeps requests waiting.',
      8,
    ),
    approvers: {
      type: 'integer',
      minimum: 1,
      maximum: 2,
      description: 'How many different people have to approve what is held. 2: four eyes. Default 1.',
    },
    holdSeconds: count(
      'Seconds after creation that a held request waits for people; then it is denied. Default 86400.',
      86_400,
    ),
    ownKey: oneOf(
      'Whether a node may ask with the key of its own live certificate, as nodes with a hardware key do. Default allow.',
      ['allow', 'deny'],
    ),
    actions: {
      type: 'object',
      description:
        'What a reason leads to instead of a denial or a wait. Deny: at once. Hold: a person decides. Ignore: left to others.',
      properties: Object.fromEntries(
        actionableReasons.map(reason => [reason, { type: 'string', enum: actions } as const]),
      ),
    },
  },
}

const condition: StructuralSchema = {
  type: 'object',
  required: ['type', 'status', 'reason', 'message'],
  properties: {
    type: { type: 'string' },
    status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
    reason: { type: 'string' },
    message: { type: 'string', maxLength: 32_768 },
    observedGeneration: { type: 'integer', format: 'int64' },
    lastTransitionTime: { type: 'string', format: 'date-time' },
  },
}

export const policyStatusSchema: StructuralSchema = {
  type: 'object',
  description: 'Written by the controllers.',
  properties: {
    observedGeneration: {
      type: 'integer',
      format: 'int64',
      description: 'metadata.generation that the conditions are about.',
    },
    conditions: {
      type: 'array',
      description:
        'Accepted: the policy can be used. InForce: requests are judged by it, or by its last good version.',
      items: condition,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['type'],
    },
    shadow: {
      type: 'object',
      description: 'What a shadow would have decided otherwise, since the controller leads.',
      properties: {
        compared: { type: 'integer', format: 'int64', description: 'Requests judged by both.' },
        different: { type: 'integer', format: 'int64', description: 'Those with another outcome.' },
        latest: {
          type: 'array',
          maxItems: 10,
          items: {
            type: 'object',
            properties: {
              request: { type: 'string' },
              node: { type: 'string' },
              enforced: { type: 'string' },
              shadow: { type: 'string' },
            },
          },
        },
      },
    },
  },
}
