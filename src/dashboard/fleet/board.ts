import type { ObjectReader } from '../../apiserver/reader.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../../kube/types.ts'
import type { Clock, Log, Timer } from '../../ports.ts'
import type { KnownLeaves } from './known-leaves.ts'
import { type NodeRow, nodeRows, type RequestNews, type RequestRow, readNews, shownRequests } from './rows.ts'

/** What changed, or everything, for one who just came. */
export interface FleetNews {
  nodes: NodeRow[]
  requests: RequestRow[]
  /** Names that are there no more. */
  goneNodes: string[]
  goneRequests: string[]
  /** How many requests there are, by state. */
  counts: Record<string, number>
}

export interface FleetBoard {
  /** Everything as it is now; then each change, several at once, until `leave`. */
  join(onNews: (news: FleetNews) => void): Promise<{ everything: FleetNews; leave(): void }>
  /** The requests that a node made, or that are for it, the latest first. */
  requestsOf(node: string): RequestRow[]
}

export interface FleetBoardOptions {
  reader: ObjectReader
  /** Absent: certificates are known by their requests only. */
  leaves?: KnownLeaves
  clock: Clock
  log: Log
}

/** Milliseconds: changes within it are told together. */
const PACE = 400

const { nodes: nodesRef, certificateSigningRequests: requestsRef } = resources

/** The fleet as rows, looked at only while somebody watches, and made anew only when something changed. */
export function createFleetBoard({ reader, leaves, clock, log }: FleetBoardOptions): FleetBoard {
  const news = new WeakMap<CertificateSigningRequest, RequestNews>()
  const viewers = new Set<(news: FleetNews) => void>()
  const nodes = new Map<string, Known<NodeRow>>()
  const requests = new Map<string, Known<RequestRow>>()
  let counts: Record<string, number> = {}
  let seen = ''
  let timer: Timer | undefined

  function newsOf(csr: CertificateSigningRequest): RequestNews {
    // Objects of the reader are shared and never change.
    const known = news.get(csr) ?? readNews(csr, clock.now())
    news.set(csr, known)
    return known
  }

  /** What changed since it was last asked. */
  function update(): FleetNews | undefined {
    const state = [reader.generation(nodesRef), reader.generation(requestsRef), leaves?.generation() ?? 0]
    if (seen === state.join()) return undefined
    seen = state.join()
    const all = reader.list<CertificateSigningRequest>(requestsRef).map(newsOf)
    const rows = nodeRows(reader.list<KubeNode>(nodesRef), all, leaves?.lives ?? new Map())
    const shown = shownRequests(all)
    counts = shown.counts
    const changedNodes = replace(nodes, rows, ([name]) => name)
    const changedRequests = replace(requests, shown.rows, ({ name }) => name)
    return {
      nodes: changedNodes.changed,
      goneNodes: changedNodes.gone,
      requests: changedRequests.changed,
      goneRequests: changedRequests.gone,
      counts,
    }
  }

  function look(): void {
    timer = viewers.size > 0 ? clock.after(PACE, look) : undefined
    try {
      const changes = update()
      if (changes && !isEmpty(changes)) for (const tell of viewers) tell(changes)
    } catch (error) {
      log.error('the dashboard cannot look at the fleet', { error: String(error) })
    }
  }

  return {
    requestsOf: node =>
      reader
        .list<CertificateSigningRequest>(requestsRef)
        .map(newsOf)
        .filter(({ subject, asker }) => subject === node || asker === node)
        .map(({ row }) => row)
        .sort((a, b) => b.created - a.created),
    async join(onNews) {
      await leaves?.read()
      // Those who are here learn of it first, so that nobody is told of it twice or never.
      const changes = update()
      if (changes && !isEmpty(changes)) for (const tell of viewers) tell(changes)
      viewers.add(onNews)
      timer ??= clock.after(PACE, look)
      return {
        everything: {
          nodes: [...nodes.values()].map(({ row }) => row),
          requests: [...requests.values()].map(({ row }) => row),
          goneNodes: [],
          goneRequests: [],
          counts,
        },
        leave() {
          viewers.delete(onNews)
          if (viewers.size > 0) return
          timer?.cancel()
          timer = undefined
        },
      }
    },
  }
}

interface Known<Row> {
  row: Row
  text: string
}

function replace<Row>(known: Map<string, Known<Row>>, rows: readonly Row[], keyOf: (row: Row) => string) {
  const changed: Row[] = []
  const present = new Set<string>()
  for (const row of rows) {
    const key = keyOf(row)
    const text = JSON.stringify(row)
    present.add(key)
    if (known.get(key)?.text === text) continue
    known.set(key, { row, text })
    changed.push(row)
  }
  const gone = [...known.keys()].filter(key => !present.has(key))
  for (const key of gone) known.delete(key)
  return { changed, gone }
}

function isEmpty({ nodes, requests, goneNodes, goneRequests }: FleetNews): boolean {
  return nodes.length + requests.length + goneNodes.length + goneRequests.length === 0
}
