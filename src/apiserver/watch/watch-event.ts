/** What a watch writes for an event: one line of JSON, made once for all watches of the same form. */
import type { Status, WatchEventType } from '../../kube/types.ts'
import { Recent } from '../recent.ts'
import type { Form } from '../representation.ts'
import type { StoredResource } from '../resources/resource.ts'
import type { Selection } from '../selection.ts'
import type { Stored, StoreEvent } from '../storage/store.ts'
import { apiVersionOf, objectParts, parseObject } from '../stored-object.ts'
import { partialObjectMetadata } from '../wire/partial-metadata.ts'
import { tableOf } from '../wire/table.ts'

/** What a watch has to say about one stored version. */
export interface Change {
  type: 'ADDED' | 'MODIFIED' | 'DELETED'
  stored: Stored
  /** For a deletion that of the deletion, so that the client can resume after it. */
  revision: number
  /** What made it; its lines are kept as long as it is. Absent for what was there when the watch began. */
  event?: StoreEvent
}

/** What the event is for a watch that sees only what matches; undefined: nothing. */
export function changeFor(event: StoreEvent, matches: Selection['matches']): Change | undefined {
  const { current, previous, revision } = event
  const was = previous && (!matches || matches(previous))
  if (current && (!matches || matches(current)))
    return { type: was ? 'MODIFIED' : 'ADDED', stored: current, revision, event }
  // Gone, or no longer matching: for this watch that is the same.
  return was ? { type: 'DELETED', stored: previous, revision, event } : undefined
}

const encoder = new TextEncoder()
const lineBegins: Readonly<Record<Change['type'], Uint8Array>> = {
  ADDED: encoder.encode('{"type":"ADDED","object":'),
  MODIFIED: encoder.encode('{"type":"MODIFIED","object":'),
  DELETED: encoder.encode('{"type":"DELETED","object":'),
}
const lineEnd = encoder.encode('}\n')
const line = (type: WatchEventType, object: unknown) =>
  encoder.encode(`${JSON.stringify({ type, object })}\n`)

/** Lines that several watches want: made once, kept while they are new. */
export class WatchLines {
  readonly #known = new WeakMap<StoreEvent, Map<string, Uint8Array>>()
  /** The store keeps events for watches that resume; only the last ones are wanted by many at once. */
  readonly #recent = new Recent<StoreEvent>(1000, event => this.#known.delete(event))

  /** `id` tells the forms of an event's line apart. */
  get(event: StoreEvent, id: string, make: () => Uint8Array): Uint8Array {
    let known = this.#known.get(event)
    if (!known) {
      known = new Map()
      this.#known.set(event, known)
      this.#recent.add(event)
    }
    let bytes = known.get(id)
    if (!bytes) {
      bytes = make()
      known.set(id, bytes)
    }
    return bytes
  }
}

/** The line for a change. `includeColumns`: it is the first Table of the watch. `now` in milliseconds. */
export function changeLine(
  resource: StoredResource,
  form: Form,
  change: Change,
  options: { includeColumns: boolean; now: number; lines: WatchLines },
): Uint8Array {
  // Ages in a Table depend on the moment, so only the other forms can be shared.
  if (form.kind === 'table') return tableLine(resource, form, change, options)
  const make = () => (form.kind === 'json' ? jsonLine(resource, change) : partialLine(form, change))
  if (!change.event) return make()
  return options.lines.get(change.event, `${form.kind} ${form.version} ${change.type}`, make)
}

function jsonLine(resource: StoredResource, { type, stored, revision }: Change): Uint8Array {
  return Buffer.concat([lineBegins[type], ...objectParts(resource, stored, revision), lineEnd])
}

function partialLine(form: Form, { type, stored, revision }: Change): Uint8Array {
  return line(type, partialObjectMetadata(parseObject(stored, revision), form.version))
}

function tableLine(
  resource: StoredResource,
  form: Form,
  { type, stored, revision }: Change,
  options: { includeColumns: boolean; now: number },
): Uint8Array {
  const table = tableOf(resource, [parseObject(stored, revision)], {
    ...options,
    includeObject: form.includeObject,
    listMeta: { resourceVersion: String(revision) },
    version: form.version,
  })
  return line(type, table)
}

/** How far the watch has come, so that a client need not read the past again. `initialEnd`: W-5. */
export function bookmarkLine(
  resource: StoredResource,
  form: Form,
  revision: number,
  initialEnd: boolean,
): Uint8Array {
  const metadata = {
    resourceVersion: String(revision),
    creationTimestamp: null,
    ...(initialEnd && { annotations: { 'k8s.io/initial-events-end': 'true' } }),
  }
  const head = `{"type":"BOOKMARK","object":`
  const kinds: Record<Form['kind'], [kind: string, apiVersion: string]> = {
    json: [resource.kind, apiVersionOf(resource)],
    'partial-metadata': ['PartialObjectMetadata', `meta.k8s.io/${form.version}`],
    table: ['Table', `meta.k8s.io/${form.version}`],
  }
  const [kind, apiVersion] = kinds[form.kind]
  const rest =
    form.kind === 'table'
      ? { columnDefinitions: null, rows: [{ cells: [], object: { ...partialOf(form), metadata } }] }
      : {}
  const top = form.kind === 'table' ? { resourceVersion: String(revision) } : metadata
  return encoder.encode(`${head}${JSON.stringify({ kind, apiVersion, metadata: top, ...rest })}}\n`)
}

const partialOf = (form: Form) => ({
  kind: 'PartialObjectMetadata',
  apiVersion: `meta.k8s.io/${form.version}`,
})

export const errorLine = (status: Status) => line('ERROR', status)
