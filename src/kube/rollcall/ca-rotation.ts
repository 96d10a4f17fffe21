import type { KubeObject } from '../types.ts'
import { clusterKind, type RollcallKind, type StructuralSchema } from './kind.ts'
import { type RotationTimings, rotationTimings } from './rotation-timings.ts'
import { type Condition, conditionsSchema, roleSchema, type TrustRole } from './trust-bundle.ts'
import { type ConsumerKind, consumerKinds, type ProofLevel } from './trust-consumer.ts'

export const rotationReasons = ['Scheduled', 'Algorithm', 'Compromise', 'Split'] as const
export type RotationReason = (typeof rotationReasons)[number]

/** The phases of a rotation that nothing goes wrong with, in order. */
export const usualPhases = [
  'Preflight',
  'Prepared',
  'Distributing',
  'Proving',
  'Bridging',
  'IssuerSwitch',
  'Reissuing',
  'Unbridging',
  'DistrustingServers',
  'DistrustingConsumers',
  'Done',
] as const

/** Where a rotation stands. `Paused` is printed instead of the phase it will go on from. */
export const rotationPhases = [
  ...usualPhases,
  'Aborted',
  'RestoringTrust',
  'RestoringIssuer',
  'RestoringLeaves',
  'RolledBack',
  'Freezing',
  'EmergencyDistrust',
  'EmergencySwitch',
  'EmergencyReissue',
] as const
export type RotationPhase = (typeof rotationPhases)[number]

export const offlinePolicies = ['Wait', 'ExcludeAfter', 'Block'] as const

export interface RotationPolicySpec {
  timings?: RotationTimings
  /** Least proof a kind of consumer must give; absent: ca-rotation's own (src/rollover/policy.ts). */
  minimumProof?: Partial<Record<ConsumerKind, ProofLevel>>
  /** Percent of the nodes that may be down by our doing at one time. */
  maxUnavailablePercent?: number
  offline?: (typeof offlinePolicies)[number]
  /** `CrossSigned`: serve the new leaf with new-signed-by-old during the switch. */
  bridge?: 'CrossSigned' | 'None'
  /** Approvals by users other than the author before the old CA is dropped. */
  approvals?: number
}

/** Something a named human says. Admission holds `by` to the requesting user, and refuses the plan's author. */
export interface Statement {
  by: string
  reason: string
  /** RFC 3339. */
  at: string
}

export interface CARotationObject extends KubeObject {
  spec: {
    role: TrustRole
    reason: RotationReason
    /** Generations of the CA that goes and of the one that comes. */
    from: number
    to: number
    policy?: RotationPolicySpec
    author: string
    pause?: boolean
    /** A rotation that paused itself goes on when this is at least its status.sequence at that time. */
    resume?: number
    rollback?: boolean
    approvals?: Statement[]
    exclusions?: (Statement & { consumer: string })[]
    acknowledgements?: (Statement & { consumer: string })[]
    /** Emergency: who has seen the list of those that will be cut off. */
    confirmation?: Statement
  }
  status?: {
    phase?: RotationPhase | 'Paused'
    /** Everything src/rollover carries from step to step, as it prints it; not for people. */
    state?: unknown
    sequence?: number
    gates?: { name: string; open: boolean; proven: number; total: number; blockers: string[] }[]
    blockers?: string[]
    proven?: string
    latestStart?: string
    conditions?: Condition[]
  }
}

const statement: Readonly<Record<string, StructuralSchema>> = {
  by: { type: 'string', minLength: 1, description: 'The user who says it; held by admission.' },
  reason: { type: 'string', minLength: 1 },
  at: { type: 'string', format: 'date-time' },
}
const aboutConsumer: StructuralSchema = {
  type: 'array',
  items: {
    type: 'object',
    required: ['consumer', 'by', 'reason', 'at'],
    properties: { consumer: { type: 'string', minLength: 1 }, ...statement },
  },
}

const policy: StructuralSchema = {
  type: 'object',
  properties: {
    timings: {
      type: 'object',
      properties: Object.fromEntries(
        Object.entries(rotationTimings).map(([name, timing]) => [
          name,
          {
            type: 'string',
            pattern: '^([0-9]+(ms|s|m|h))+$',
            description: `${timing.means} Default ${timing.default}.`,
          },
        ]),
      ),
    },
    minimumProof: {
      type: 'object',
      properties: Object.fromEntries(
        consumerKinds.map(kind => [kind, { type: 'integer', minimum: 1, maximum: 3 } as const]),
      ),
    },
    maxUnavailablePercent: { type: 'integer', minimum: 1, maximum: 100, default: 10 },
    offline: { type: 'string', enum: offlinePolicies, default: 'Wait' },
    bridge: { type: 'string', enum: ['CrossSigned', 'None'], default: 'CrossSigned' },
    approvals: { type: 'integer', minimum: 0, maximum: 8, default: 0 },
  },
}

export const caRotation: RollcallKind = {
  ref: clusterKind('carotations', 'CARotation'),
  singular: 'carotation',
  shortNames: ['car'],
  description: 'One change of the CA of one role, from the first check to the retirement of the old key.',
  spec: {
    type: 'object',
    required: ['role', 'reason', 'from', 'to', 'author'],
    properties: {
      role: roleSchema,
      reason: { type: 'string', enum: rotationReasons },
      from: { type: 'integer', format: 'int64', minimum: 1 },
      to: { type: 'integer', format: 'int64', minimum: 1 },
      author: { type: 'string', minLength: 1, description: 'Who began it; held by admission.' },
      policy,
      pause: { type: 'boolean', default: false },
      resume: {
        type: 'integer',
        format: 'int64',
        description: 'Goes on from a pause at or before this sequence.',
      },
      rollback: { type: 'boolean', default: false },
      approvals: {
        type: 'array',
        items: { type: 'object', required: ['by', 'reason', 'at'], properties: statement },
      },
      exclusions: aboutConsumer,
      acknowledgements: aboutConsumer,
      confirmation: { type: 'object', required: ['by', 'reason', 'at'], properties: statement },
    },
    'x-kubernetes-validations': [
      { rule: 'self.from != self.to', message: 'from and to are the same CA' },
      {
        rule: 'self.role == oldSelf.role && self.from == oldSelf.from && self.to == oldSelf.to && self.author == oldSelf.author',
        message: 'role, from, to and author never change',
      },
    ],
  },
  status: {
    type: 'object',
    properties: {
      phase: { type: 'string', enum: [...rotationPhases, 'Paused'] },
      state: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
      sequence: { type: 'integer', format: 'int64' },
      proven: { type: 'string', description: 'Proven and total of the gate it waits for.' },
      latestStart: { type: 'string', format: 'date-time' },
      blockers: { type: 'array', items: { type: 'string' } },
      gates: {
        type: 'array',
        items: {
          type: 'object',
          required: ['name', 'open', 'proven', 'total', 'blockers'],
          properties: {
            name: { type: 'string' },
            open: { type: 'boolean' },
            proven: { type: 'integer', format: 'int32' },
            total: { type: 'integer', format: 'int32' },
            blockers: { type: 'array', items: { type: 'string' } },
          },
        },
      },
      conditions: conditionsSchema,
    },
  },
  columns: [
    { name: 'Role', type: 'string', jsonPath: '.spec.role', description: 'Whose CA changes.' },
    { name: 'From', type: 'integer', jsonPath: '.spec.from', description: 'The CA that goes.' },
    { name: 'To', type: 'integer', jsonPath: '.spec.to', description: 'The CA that comes.' },
    { name: 'Phase', type: 'string', jsonPath: '.status.phase', description: 'Where it stands.' },
    { name: 'Proven', type: 'string', jsonPath: '.status.proven', description: 'At the gate it waits for.' },
    {
      name: 'Age',
      type: 'date',
      jsonPath: '.metadata.creationTimestamp',
      description: 'Since it was begun.',
    },
    {
      name: 'Blockers',
      type: 'string',
      jsonPath: '.status.blockers',
      description: 'What it waits for.',
      priority: 1,
    },
  ],
  complaints(object) {
    const { spec } = object as CARotationObject
    return spec.from === spec.to ? ['spec.to: Invalid value: from and to are the same CA'] : []
  },
}
