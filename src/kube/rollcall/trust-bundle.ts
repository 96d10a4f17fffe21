import type { KubeObject } from '../types.ts'
import { clusterKind, type RollcallKind, type StructuralSchema } from './kind.ts'

/** What a CA of ours is for. One rotation changes one of them. */
export const trustRoles = ['apiserver-serving', 'client', 'kubelet-serving'] as const
export type TrustRole = (typeof trustRoles)[number]

/** When a bundle is meant to be published; a consumer looks at its number and signatures only. */
export const bundlePurposes = ['Steady', 'Widened', 'Narrowed', 'Restored'] as const
export type BundlePurpose = (typeof bundlePurposes)[number]

/** A numbered bundle of trust anchors, signed by the trust roots. Several may be signed in advance. */
export interface TrustBundleObject extends KubeObject {
  spec: {
    role: TrustRole
    generation: number
    purpose: BundlePurpose
    /** The exact signed text (src/trust/bundle-text.ts). */
    content: string
    signatures: { keyId: string; signature: string }[]
  }
  status?: { digest?: string; anchors?: number; published?: string; conditions?: Condition[] }
}

/** metav1.Condition. */
export interface Condition {
  type: string
  status: 'True' | 'False' | 'Unknown'
  reason: string
  message: string
  observedGeneration?: number
  /** RFC 3339. */
  lastTransitionTime: string
}

export const conditionsSchema: StructuralSchema = {
  type: 'array',
  'x-kubernetes-list-type': 'map',
  'x-kubernetes-list-map-keys': ['type'],
  items: {
    type: 'object',
    required: ['type', 'status', 'reason', 'message', 'lastTransitionTime'],
    properties: {
      type: { type: 'string' },
      status: { type: 'string', enum: ['True', 'False', 'Unknown'] },
      reason: { type: 'string' },
      message: { type: 'string' },
      observedGeneration: { type: 'integer', format: 'int64' },
      lastTransitionTime: { type: 'string', format: 'date-time' },
    },
  },
}

export const roleSchema: StructuralSchema = { type: 'string', enum: trustRoles }

export const trustBundle: RollcallKind = {
  ref: clusterKind('trustbundles', 'TrustBundle'),
  singular: 'trustbundle',
  shortNames: ['tb'],
  description: 'A numbered bundle of trust anchors for one role, signed by the trust roots; never changed.',
  spec: {
    type: 'object',
    required: ['role', 'generation', 'purpose', 'content', 'signatures'],
    properties: {
      role: roleSchema,
      generation: { type: 'integer', format: 'int64', minimum: 1 },
      purpose: { type: 'string', enum: bundlePurposes },
      content: {
        type: 'string',
        minLength: 1,
        maxLength: 262_144,
        description: 'The exact text that is signed.',
      },
      signatures: {
        type: 'array',
        minItems: 1,
        maxItems: 16,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['keyId'],
        items: {
          type: 'object',
          required: ['keyId', 'signature'],
          properties: {
            keyId: {
              type: 'string',
              pattern: '^[0-9a-f]{64}$',
              description: 'SHA-256 of the trust root key.',
            },
            signature: { type: 'string', format: 'byte', description: 'Ed25519 over the content.' },
          },
        },
      },
    },
    'x-kubernetes-validations': [
      { rule: 'self == oldSelf', message: 'a bundle is never changed; sign a new generation' },
    ],
  },
  status: {
    type: 'object',
    properties: {
      digest: { type: 'string', description: 'SHA-256 over the sorted DER of its anchors.' },
      anchors: { type: 'integer', format: 'int32' },
      published: { type: 'string', format: 'date-time' },
      conditions: conditionsSchema,
    },
  },
  columns: [
    { name: 'Role', type: 'string', jsonPath: '.spec.role', description: 'What its CAs are for.' },
    {
      name: 'Generation',
      type: 'integer',
      jsonPath: '.spec.generation',
      description: 'Never goes back at a consumer.',
    },
    {
      name: 'Purpose',
      type: 'string',
      jsonPath: '.spec.purpose',
      description: 'When a rotation publishes it.',
    },
    { name: 'Anchors', type: 'integer', jsonPath: '.status.anchors', description: 'How many CAs it trusts.' },
    {
      name: 'Published',
      type: 'date',
      jsonPath: '.status.published',
      description: 'Since when it is distributed.',
    },
    {
      name: 'Digest',
      type: 'string',
      jsonPath: '.status.digest',
      description: 'SHA-256 of its anchors.',
      priority: 1,
    },
  ],
}
