import type { ApiResponse } from '../../kube/transport.ts'
import type { Call } from '../call.ts'
import { tooLargeResourceVersion, type WatchOptions, watchOptionsOf } from '../list-options.ts'
import { type Form, formOf } from '../representation.ts'
import { jsonHeaders } from '../response.ts'
import { type Selection, selectionOf } from '../selection.ts'
import { CompactedError, type Stored } from '../storage/store.ts'
import { prefixOf } from '../stored-object.ts'
import { bookmarkLine, type Change, changeFor, changeLine, errorLine } from '../watch/watch-event.ts'
import { type Feed, type Line, watchStream } from '../watch/watch-stream.ts'
import { apiError } from '../wire/api-error.ts'
import { pageOf } from './list.ts'

/**
 * A watch of a collection. The answer is there at once, its body comes as things happen (W-4: a client may wait for the
 * headers before it does anything else).
 */
export function watch(call: Call): ApiResponse {
  const { core } = call
  const form = formOf(call)
  const selection = selectionOf(call)
  const options = watchOptionsOf(call.query)
  const start = core.store.revision
  if (options.sendInitialEvents && (options.after ?? 0) > start)
    throw tooLargeResourceVersion(options.after ?? 0, start)

  const lineOf = lineMaker(call, form)
  const withState = options.sendInitialEvents ?? options.after === undefined
  const stops: (() => void)[] = []
  const { feed, body } = watchStream({
    initial: withState ? initialLines(call, form, selection, options, lineOf) : [].values(),
    backlog: core.limits.watchBacklog,
    onClose: () => {
      for (const stop of stops) stop()
    },
  })
  try {
    const scope = { resource: prefixOf(call.resource), ...selection }
    stops.push(
      core.hub.subscribe(scope, withState ? start : (options.after ?? start), event =>
        feed.push(() => {
          const change = changeFor(event, selection.matches)
          return change && lineOf(change)
        }),
      ),
    )
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error
    // As in Kubernetes the refusal is an event of the stream, not its status.
    const message = `too old resource version: ${options.after} (${error.oldest})`
    feed.push(() => errorLine(apiError.expired(message).status))
    feed.end()
    return streamed(body)
  }
  startTimers(call, form, options, feed, stops)
  return streamed(body)
}

const streamed = (body: AsyncIterable<Uint8Array>): ApiResponse => ({
  status: 200,
  headers: { ...jsonHeaders },
  body,
})

/** Only the first Table of a watch has the columns. */
function lineMaker(call: Call, form: Form): (change: Change) => Uint8Array {
  const { clock, lines } = call.core
  let includeColumns = true
  return change => {
    const bytes = changeLine(call.resource, form, change, { includeColumns, now: clock.now(), lines })
    includeColumns = false
    call.core.metrics?.watchEvent(call.resource, bytes.length)
    return bytes
  }
}

/** What is there, as ADDED events; the snapshot is taken now, its lines are made when they are read. */
function initialLines(
  call: Call,
  form: Form,
  selection: Selection,
  options: WatchOptions,
  lineOf: (change: Change) => Uint8Array,
): Iterator<Line> {
  const { store } = call.core
  const { items, revision } = pageOf(store, selection, { state: { kind: 'latest' } })
  return lines(items, options.sendInitialEvents === true && options.bookmarks)

  function* lines(stored: readonly Stored[], initialEnd: boolean): Generator<Line> {
    for (const item of stored) yield () => lineOf({ type: 'ADDED', stored: item, revision: item.modRevision })
    if (initialEnd) yield () => bookmarkLine(call.resource, form, revision, true)
  }
}

function startTimers(
  { core, resource, request }: Call,
  form: Form,
  options: WatchOptions,
  feed: Feed,
  stops: (() => void)[],
): void {
  const bookmark = () => {
    const { revision } = core.store
    feed.push(() => bookmarkLine(resource, form, revision, false))
  }
  if (options.bookmarks) stops.push(core.bookmarks.add(bookmark))
  const seconds = options.timeoutSeconds ?? core.limits.watchSeconds * (1 + core.random.float())
  const timer = core.clock.after(seconds * 1000, () => {
    // A last one, so that the client resumes where this watch ends.
    if (options.bookmarks) bookmark()
    feed.end()
  })
  stops.push(() => timer.cancel())
  const end = () => feed.end()
  core.watches.add(end)
  stops.push(() => core.watches.delete(end))
  if (core.closing.aborted) end()
  const { signal } = request
  if (!signal) return
  const abort = () => feed.abort()
  signal.addEventListener('abort', abort, { once: true })
  stops.push(() => signal.removeEventListener('abort', abort))
  if (signal.aborted) abort()
}
