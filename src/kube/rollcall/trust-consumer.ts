import type { KubeObject } from '../types.ts'
import { clusterKind, type RollcallKind } from './kind.ts'
import { type Condition, conditionsSchema, roleSchema, type TrustRole } from './trust-bundle.ts'

/** Who verifies by our CAs. Order is that of the printed lists. */
export const consumerKinds = [
  'APIServer',
  'ControllerManager',
  'Scheduler',
  'Orchestrator',
  'Kubelet',
  'Agent',
  'Pod',
  'Monitoring',
  'External',
] as const
/** Keys that a kubelet verifies, as every program of Go's crypto/x509 and ours does: a new CA of these asks for no canary. */
export const kubeletKeyTypes: readonly string[] = [
  'RSA-2048',
  'RSA-3072',
  'RSA-4096',
  'P-256',
  'P-384',
  'P-521',
  'Ed25519',
]

export type ConsumerKind = (typeof consumerKinds)[number]

/** How far trust in a bundle is proven, weakest first: L0 published … L4 refuses the old CA. */
export type ProofLevel = 0 | 1 | 2 | 3 | 4

export const consumerStates = ['Live', 'Late', 'Offline', 'Excluded', 'Gone'] as const
export type ConsumerState = (typeof consumerStates)[number]

export interface TrustProof {
  role: TrustRole
  level: ProofLevel
  /** Generation of the bundle that is proven. */
  generation: number
  /** Which process or boot proved it: a new one starts from zero. */
  instance: string
  /** RFC 3339. */
  at: string
  /** Probe, canary handshake, report, or the user who acknowledged. */
  by: string
  /** CAs whose bare chain it has verified in a handshake. */
  authorities?: number[]
}

/** One who verifies certificates of a role. Only the controller writes it. */
export interface TrustConsumerObject extends KubeObject {
  spec: { consumerKind: ConsumerKind; identity: string; roles: TrustRole[]; node?: string }
  status?: {
    state?: ConsumerState
    instance?: string
    lastSeen?: string
    proofs?: TrustProof[]
    /** The last time this instance refused a chain: it contradicts acknowledgements before it. */
    lastFailure?: string
    conditions?: Condition[]
  }
}

export const trustConsumer: RollcallKind = {
  ref: clusterKind('trustconsumers', 'TrustConsumer'),
  singular: 'trustconsumer',
  shortNames: ['tc'],
  description:
    'One who verifies certificates of our CAs, and how far its trust is proven. Written by the controller alone.',
  spec: {
    type: 'object',
    required: ['consumerKind', 'identity', 'roles'],
    properties: {
      consumerKind: { type: 'string', enum: consumerKinds },
      identity: {
        type: 'string',
        minLength: 1,
        maxLength: 512,
        description: 'User name, pod UID or address.',
      },
      roles: { type: 'array', items: roleSchema, 'x-kubernetes-list-type': 'set' },
      node: { type: 'string', maxLength: 253 },
    },
  },
  status: {
    type: 'object',
    properties: {
      state: { type: 'string', enum: consumerStates },
      instance: { type: 'string' },
      lastSeen: { type: 'string', format: 'date-time' },
      lastFailure: { type: 'string', format: 'date-time' },
      proofs: {
        type: 'array',
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['role'],
        items: {
          type: 'object',
          required: ['role', 'level', 'generation', 'instance', 'at', 'by'],
          properties: {
            role: roleSchema,
            level: { type: 'integer', minimum: 0, maximum: 4 },
            generation: { type: 'integer', format: 'int64' },
            instance: { type: 'string' },
            at: { type: 'string', format: 'date-time' },
            by: { type: 'string' },
            authorities: {
              type: 'array',
              items: { type: 'integer', format: 'int64' },
              'x-kubernetes-list-type': 'set',
            },
          },
        },
      },
      conditions: conditionsSchema,
    },
  },
  columns: [
    { name: 'Kind', type: 'string', jsonPath: '.spec.consumerKind', description: 'What it is.' },
    { name: 'Identity', type: 'string', jsonPath: '.spec.identity', description: 'Who it is.' },
    {
      name: 'State',
      type: 'string',
      jsonPath: '.status.state',
      description: 'Live, Late, Offline, Excluded or Gone.',
    },
    {
      name: 'Proof',
      type: 'string',
      jsonPath: '.status.proofs[*].level',
      description: 'Level for each role.',
    },
    { name: 'Last-Seen', type: 'date', jsonPath: '.status.lastSeen', description: 'Last sign of life.' },
  ],
}
