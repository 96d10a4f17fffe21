import { type KubeEvent, resources } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { ageOf } from '../wire/human-duration.ts'
import { nameDescription, textColumn } from './columns.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

interface Event extends KubeEvent {
  involvedObject: KubeEvent['involvedObject'] & { resourceVersion?: string; fieldPath?: string }
  eventTime?: string
  series?: { count?: number; lastObservedTime?: string }
  reportingComponent?: string
  reportingInstance?: string
}

/** An event lives beside its object; that of a cluster-scoped object in `default`. */
function validateEvent({ metadata, involvedObject }: Event): FieldError[] {
  const namespace = involvedObject?.namespace ?? ''
  const expected = namespace === '' ? ['', 'default'] : [namespace]
  return expected.includes(metadata.namespace ?? '')
    ? []
    : [fieldError.invalid('involvedObject.namespace', namespace, 'does not match event.namespace')]
}

function firstSeen(event: Event, now: number): string {
  return ageOf(event.firstTimestamp ?? event.eventTime, now)
}

function lastSeen(event: Event, now: number): string {
  if (event.series) return ageOf(event.series.lastObservedTime, now)
  return event.lastTimestamp ? ageOf(event.lastTimestamp, now) : firstSeen(event, now)
}

function target({ involvedObject: { kind = '', name } }: Event): string {
  return name ? `${kind.toLowerCase()}/${name}` : kind.toLowerCase()
}

function source({ source, reportingComponent, reportingInstance }: Event): string {
  const component = source?.component || reportingComponent || ''
  const host = source?.component ? source.host : reportingInstance
  return host ? `${component}, ${host}` : component
}

const involved = (
  field: 'kind' | 'namespace' | 'name' | 'uid' | 'apiVersion' | 'resourceVersion' | 'fieldPath',
) => ({
  path: `involvedObject.${field}`,
  value: ({ involvedObject }: Event) => involvedObject?.[field] ?? '',
})

export const events: StoredResource<Event> = {
  ...storedDefaults,
  ...resources.events,
  singular: 'event',
  shortNames: ['ev'],
  columns: [
    textColumn(
      'Last Seen',
      'The time at which the most recent occurrence of this event was recorded.',
      lastSeen,
    ),
    textColumn(
      'Type',
      'Type of this event (Normal, Warning), new types could be added in the future',
      ({ type }) => type ?? '',
    ),
    textColumn(
      'Reason',
      "This should be a short, machine understandable string that gives the reason for the transition into the object's current status.",
      ({ reason }) => reason ?? '',
    ),
    textColumn('Object', 'The object that this event is about.', target),
    textColumn(
      'Subobject',
      'If referring to a piece of an object instead of an entire object, the path of that piece.',
      ({ involvedObject }) => involvedObject.fieldPath ?? '',
      1,
    ),
    textColumn(
      'Source',
      'The component reporting this event. Should be a short machine understandable string.',
      source,
      1,
    ),
    textColumn(
      'Message',
      'A human-readable description of the status of this operation.',
      ({ message }) => message?.trim() ?? '',
    ),
    textColumn(
      'First Seen',
      'The time at which the event was first recorded. (Time of server receipt is in TypeMeta.)',
      firstSeen,
      1,
    ),
    textColumn(
      'Count',
      'The number of times this event has occurred.',
      ({ series, count }) => series?.count ?? (count || 1),
      1,
    ),
    textColumn('Name', nameDescription, ({ metadata }) => metadata.name, 1),
  ],
  prepareForCreate(event) {
    event.involvedObject ??= {}
  },
  prepareForUpdate(next) {
    next.involvedObject ??= {}
  },
  validate: validateEvent,
  validateUpdate: validateEvent,
  selectableFields: [
    involved('kind'),
    involved('namespace'),
    involved('name'),
    involved('uid'),
    involved('apiVersion'),
    involved('resourceVersion'),
    involved('fieldPath'),
    { path: 'reason', value: ({ reason }) => reason ?? '' },
    { path: 'reportingComponent', value: ({ reportingComponent }) => reportingComponent ?? '' },
    {
      path: 'source',
      value: ({ source, reportingComponent }) => source?.component || (reportingComponent ?? ''),
    },
    { path: 'type', value: ({ type }) => type ?? '' },
  ],
  allowCreateOnUpdate: true,
  timeToLiveSeconds: 3600,
}
