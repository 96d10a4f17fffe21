/** The fleet as this page knows it: what the server told, and follows up. */
import { batch, computed, signal } from '@preact/signals'
import { lineReader } from './model/lines.ts'
import type { NodeRow, RequestRow } from './model/rows.ts'
import { ask, Refusal } from './session.ts'

export const nodes = new Map<string, NodeRow>()
export const requests = new Map<string, RequestRow>()
/** Changes with `nodes` and with `requests`. */
export const nodesVersion = signal(0)
export const requestsVersion = signal(0)
export const counts = signal<Record<string, number>>({})
/** Seconds since the epoch by the server's clock, a step a second. */
export const now = signal(Math.floor(Date.now() / 1000))
export const connection = signal<{ state: 'connecting' | 'live' | 'lost' | 'refused'; message?: string }>({
  state: 'connecting',
})
/** Whether everything is here. */
export const complete = signal(false)
export const requestList = computed(() => {
  requestsVersion.value
  return [...requests.values()]
})

interface Line {
  now: number
  nodes?: NodeRow[]
  goneNodes?: string[]
  requests?: RequestRow[]
  goneRequests?: string[]
  counts?: Record<string, number>
  end?: string
}

/** Milliseconds by which the server's clock is ahead. */
let ahead = 0

function take(line: Line, present?: { nodes: Set<string>; requests: Set<string> }): void {
  ahead = line.now - Date.now()
  batch(() => {
    for (const row of line.nodes ?? []) {
      nodes.set(row[0], row)
      present?.nodes.add(row[0])
    }
    for (const row of line.requests ?? []) {
      requests.set(row.name, row)
      present?.requests.add(row.name)
    }
    for (const name of line.goneNodes ?? []) nodes.delete(name)
    for (const name of line.goneRequests ?? []) requests.delete(name)
    if (line.counts) counts.value = line.counts
    if (line.nodes?.length || line.goneNodes?.length) nodesVersion.value++
    if (line.requests?.length || line.goneRequests?.length) requestsVersion.value++
  })
}

/** What was here before a break and is not told again is there no more. */
function forget<T>(known: Map<string, T>, present: ReadonlySet<string>): boolean {
  const gone = [...known.keys()].filter(name => !present.has(name))
  for (const name of gone) known.delete(name)
  return gone.length > 0
}

async function followOnce(signal: AbortSignal): Promise<void> {
  const response = await ask('fleet', undefined, signal)
  const body = response.body?.getReader()
  if (!body) return
  let present: { nodes: Set<string>; requests: Set<string> } | undefined = {
    nodes: new Set(),
    requests: new Set(),
  }
  const read = lineReader(value => {
    const line = value as Line
    take(line, present)
    // Requests come last of all.
    if (!present || line.requests === undefined) return
    if (forget(nodes, present.nodes)) nodesVersion.value++
    if (forget(requests, present.requests)) requestsVersion.value++
    present = undefined
    complete.value = true
    connection.value = { state: 'live' }
  })
  for (;;) {
    const { done, value } = await body.read()
    if (done) return
    read(value)
  }
}

/** Whoever logs in next may not be allowed to see it. */
export function forgetFleet(): void {
  batch(() => {
    nodes.clear()
    requests.clear()
    counts.value = {}
    complete.value = false
    connection.value = { state: 'connecting' }
    nodesVersion.value++
    requestsVersion.value++
  })
}

/** Follows until `signal` aborts; comes again when the connection breaks. */
export async function follow(signal: AbortSignal): Promise<void> {
  const clock = setInterval(() => {
    now.value = Math.floor((Date.now() + ahead) / 1000)
  }, 1000)
  signal.addEventListener('abort', () => clearInterval(clock))
  for (let wait = 500; !signal.aborted; wait = Math.min(10_000, wait * 2)) {
    try {
      await followOnce(signal)
      wait = 500
    } catch (error) {
      if (signal.aborted || (error instanceof Refusal && error.status === 401)) return
      if (error instanceof Refusal && error.status === 403) {
        connection.value = { state: 'refused', message: error.message }
        return
      }
    }
    if (signal.aborted) return
    connection.value = { state: 'lost' }
    await new Promise(resolve => setTimeout(resolve, wait))
  }
}
