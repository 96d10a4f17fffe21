import type { ApiResponse } from '../../kube/transport.ts'
import type { Status } from '../../kube/types.ts'
import type { Call, Core } from '../call.ts'
import { tooLargeResourceVersion, type WatchOptions, watchOptionsOf } from '../list-options.ts'
import { type Form, formOf } from '../representation.ts'
import { jsonHeaders } from '../response.ts'
import { type Selection, selectionOf } from '../selection.ts'
import { CompactedError, type Stored } from '../storage/store.ts'
import { prefixOf } from '../stored-object.ts'
import { bookmarkLine, type Change, changeFor, changeLine, errorLine } from '../watch/watch-event.ts'
import { byteChunks, type Chunks, type Feed, type Line, WatchStream } from '../watch/watch-stream.ts'
import { bookmarkValue, changeValue, valueChunks, type WatchValue } from '../watch/watch-values.ts'
import { apiError } from '../wire/api-error.ts'
import { pageOf } from './list.ts'

/**
 * A watch of a collection. The answer is there at once, its body comes as things happen (W-4: a client may wait for the
 * headers before it does anything else).
 */
export function watch(call: Call): ApiResponse {
  const form = formOf(call)
  if (call.request.wantsValues && form.kind === 'json') {
    const body = new Uint8Array()
    return { status: 200, headers: { ...jsonHeaders }, body, events: stream(call, valuesOf(call)) }
  }
  return { status: 200, headers: { ...jsonHeaders }, body: stream(call, linesOf(call, form)) }
}

/** How the stream says what it has to say. */
interface Words<Part, Chunk> {
  chunks: Chunks<Part, Chunk>
  change(change: Change): Part
  bookmark(revision: number, initialEnd: boolean): Part
  error(status: Status): Part
}

function linesOf(call: Call, form: Form): Words<Uint8Array, Uint8Array> {
  const { resource, core } = call
  const { clock, lines } = core
  // Only the first Table of a watch has the columns.
  let includeColumns = true
  return {
    chunks: byteChunks,
    change(change) {
      const bytes = changeLine(resource, form, change, { includeColumns, now: clock.now(), lines })
      includeColumns = false
      core.metrics?.watchEvent(resource, bytes.length)
      return bytes
    },
    bookmark: (revision, initialEnd) => bookmarkLine(resource, form, revision, initialEnd),
    error: errorLine,
  }
}

function valuesOf({ resource, core }: Call): Words<WatchValue, readonly WatchValue[]> {
  return {
    chunks: valueChunks,
    change(change) {
      core.metrics?.watchEvent(resource, change.stored.value.length)
      return changeValue(change)
    },
    bookmark: (revision, initialEnd) => bookmarkValue(resource, revision, initialEnd),
    error: object => ({ type: 'ERROR', object }),
  }
}

function stream<Part, Chunk>(call: Call, words: Words<Part, Chunk>): AsyncIterable<Chunk> {
  const { core } = call
  const selection = selectionOf(call)
  const options = watchOptionsOf(call.query)
  const start = core.store.revision
  if (options.sendInitialEvents && (options.after ?? 0) > start)
    throw tooLargeResourceVersion(options.after ?? 0, start)

  const withState = options.sendInitialEvents ?? options.after === undefined
  const feed = new WatchStream({
    initial: withState ? initialLines(call, selection, options, words) : undefined,
    chunks: words.chunks,
    backlog: core.limits.watchBacklog,
  })
  let unsubscribe: () => void
  try {
    const { prefix, key, matches } = selection
    const scope = { resource: prefixOf(call.resource), prefix, ...(key !== undefined && { key }) }
    unsubscribe = core.hub.subscribe(scope, withState ? start : (options.after ?? start), event =>
      feed.push(() => {
        const change = changeFor(event, matches)
        return change && words.change(change)
      }),
    )
  } catch (error) {
    if (!(error instanceof CompactedError)) throw error
    // As in Kubernetes the refusal is an event of the stream, not its status.
    const message = `too old resource version: ${options.after} (${error.oldest})`
    feed.push(() => words.error(apiError.expired(message).status))
    feed.end()
    return feed
  }
  endInTime(call, options, feed, words, unsubscribe)
  return feed
}

/** What is there, as ADDED events; the snapshot is taken now, its lines are made when they are read. */
function initialLines<Part, Chunk>(
  call: Call,
  selection: Selection,
  options: WatchOptions,
  words: Words<Part, Chunk>,
): Iterator<Line<Part>> {
  const { store } = call.core
  const { items, revision } = pageOf(store, selection, { state: { kind: 'latest' } })
  return lines(items, options.sendInitialEvents === true && options.bookmarks)

  function* lines(stored: readonly Stored[], initialEnd: boolean): Generator<Line<Part>> {
    for (const item of stored)
      yield () => words.change({ type: 'ADDED', stored: item, revision: item.modRevision })
    if (initialEnd) yield () => words.bookmark(revision, true)
  }
}

/** What ends a watch from outside: its time, the reader, the API; and its bookmarks until then. */
function endInTime<Part, Chunk>(
  { core, request }: Call,
  options: WatchOptions,
  feed: WatchStream<Part, Chunk>,
  words: Words<Part, Chunk>,
  unsubscribe: () => void,
): void {
  const { signal } = request
  const bookmark = options.bookmarks ? bookmarks(core, feed, words) : undefined
  const stopBookmarks = bookmark && core.bookmarks.add(bookmark)
  // Whole ones: Node keeps a list for each length of a timer.
  const seconds = options.timeoutSeconds ?? Math.ceil(core.limits.watchSeconds * (1 + core.random.float()))
  const timer = core.clock.after(seconds * 1000, () => {
    // A last one, so that the client resumes where this watch ends.
    bookmark?.()
    feed.end()
  })
  feed.onClose = () => {
    unsubscribe()
    timer.cancel()
    stopBookmarks?.()
    core.watches.delete(feed)
    signal?.removeEventListener('abort', feed)
  }
  core.watches.add(feed)
  signal?.addEventListener('abort', feed, { once: true })
  if (core.closing.aborted) feed.end()
  if (signal?.aborted) feed.abort()
}

/** A bookmark for each call. */
function bookmarks<Part, Chunk>(core: Core, feed: Feed<Part>, words: Words<Part, Chunk>): () => void {
  return () => {
    const { revision } = core.store
    feed.push(() => words.bookmark(revision, false))
  }
}
