/** A made-up kind with one of everything that the door for our own kinds allows. */
import { clusterKind, type RollcallKind } from '../../../kube/rollcall/kind.ts'

interface Timetable {
  spec?: { from?: string; to?: string; cars?: number }
}

export const timetable: RollcallKind = {
  ref: clusterKind('timetables', 'Timetable'),
  singular: 'timetable',
  shortNames: ['tt'],
  description: 'When trains leave. No cluster has one: tests do.',
  spec: {
    type: 'object',
    required: ['from'],
    description: 'What is wished.',
    properties: {
      from: { type: 'string', pattern: '^[a-z]+$', maxLength: 10, description: 'Where it leaves.' },
      to: { type: 'string', minLength: 1, default: 'anywhere' },
      class: { type: 'string', enum: ['first', 'second'] },
      cars: { type: 'integer', format: 'int32', minimum: 1, maximum: 9 },
      departs: { type: 'string', format: 'date-time' },
      plan: { type: 'string', format: 'byte' },
      direct: { type: 'boolean' },
      price: { type: 'number' },
      stops: {
        type: 'array',
        minItems: 1,
        maxItems: 3,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['name'],
        items: {
          type: 'object',
          required: ['name'],
          properties: { name: { type: 'string' }, minutes: { type: 'integer', default: 2, minimum: 0 } },
        },
      },
      days: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
      notes: { type: 'object', additionalProperties: { type: 'string' } },
      extra: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    },
    'x-kubernetes-validations': [{ rule: 'self.from != self.to', message: 'must lead elsewhere' }],
  },
  status: {
    type: 'object',
    properties: {
      late: { type: 'integer' },
      conditions: {
        type: 'array',
        items: {
          type: 'object',
          properties: { type: { type: 'string' }, status: { type: 'string' } },
        },
      },
    },
  },
  columns: [
    { name: 'From', type: 'string', jsonPath: '.spec.from', description: 'Where it leaves.' },
    { name: 'Cars', type: 'integer', jsonPath: '.spec.cars', description: '' },
    {
      name: 'Ready',
      type: 'string',
      jsonPath: '.status.conditions[?(@.type=="Ready")].status',
      description: 'Whether it can leave.',
    },
    { name: 'Departs', type: 'date', jsonPath: '.spec.departs', description: 'When it leaves.', priority: 1 },
  ],
  complaints(object, previous) {
    const { spec = {} } = object as Timetable
    const { spec: before = spec } = (previous ?? {}) as Timetable
    return [
      ...(spec.from === spec.to ? [`spec.to: Invalid value: "${spec.to}": must lead elsewhere`] : []),
      ...(spec.cars === before.cars ? [] : ['spec.cars: Forbidden: the train is made up']),
    ]
  },
}
