import type { Api } from '../apiserver/api.ts'
import type { ObjectReader } from '../apiserver/reader.ts'
import type { LookAtTls } from '../doctor/gather/ports.ts'
import { RollcallError } from '../errors.ts'
import { ApiStatusError } from '../kube/client.ts'
import type { ApiRequest, ApiResponse, Peer } from '../kube/transport.ts'
import type { Clock, Log, Random } from '../ports.ts'
import { originRefusal } from './access/same-origin.ts'
import { createSessions } from './access/sessions.ts'
import { answer, answerJson, refuse } from './answers.ts'
import { answerCall, type Calls } from './calls.ts'
import { createFleetBoard } from './fleet/board.ts'
import type { KnownLeaves } from './fleet/known-leaves.ts'
import { pageFiles } from './page/page-files.ts'
import type { RecentDisk } from './recent-decisions.ts'

export interface DashboardOptions {
  api: Api
  reader: ObjectReader
  leaves?: KnownLeaves
  /** Of the decision log; absent: this process writes none. */
  decisionLog?: string
  /** DNS names that it is reached by, besides any address. */
  hostnames: readonly string[]
  /** Where the API is reached, e.g. `https://127.0.0.1:6443`. */
  server(): string
  /** Where a browser reaches the page, e.g. `http://127.0.0.1:8443/dashboard/`. */
  url(): string
  lookAtTls: LookAtTls
  clock: Clock
  random: Random
  disk: RecentDisk
  log: Log
}

export interface Dashboard {
  handle(request: ApiRequest, peer: Peer): Promise<ApiResponse>
}

/** Everything below this path is ours. */
const base = '/dashboard'

export const isDashboardPath = (url: string): boolean => /^\/dashboard(?:[/?]|$)/.test(url)

/** The page and what it asks for. It never acts but as its viewer, and each of his calls is the API's to allow. */
export function createDashboard(options: DashboardOptions): Dashboard {
  const { clock, random, disk, log } = options
  const files = pageFiles(disk)
  const calls: Calls = {
    ...options,
    sessions: createSessions({ clock, random }),
    board: createFleetBoard(options),
    doctorRuns: { underWay: 0 },
  }
  const hostnames = new Set(options.hostnames)

  async function handle(request: ApiRequest, peer: Peer): Promise<ApiResponse> {
    const { method } = request
    const path = request.url.split('?', 1)[0] ?? ''
    const refusal = originRefusal({ method, path, headers: request.headers }, hostnames)
    if (refusal) return refuse(refusal.status, refusal.message)
    if (path === base)
      return { ...refuse(308, 'here'), headers: { ...refuse(308, '').headers, location: `${base}/` } }
    if (path.startsWith(`${base}/api/`))
      return answerCall(calls, request, peer, path.slice(`${base}/api/`.length))
    if (method !== 'GET' && method !== 'HEAD') return refuse(405, 'only GET')
    const file = await files(path.slice(base.length + 1))
    return file ? answer(200, file.contentType, file.content) : refuse(404, 'there is no such page')
  }

  return {
    async handle(request, peer) {
      try {
        return await handle(request, peer)
      } catch (error) {
        if (error instanceof ApiStatusError)
          return answerJson(error.status.code, { message: error.status.message ?? error.message })
        // Not meant for the viewer: it may hold anything.
        if (!(error instanceof RollcallError))
          log.error('the dashboard failed', { url: request.url.split('?', 1)[0], error: String(error) })
        return refuse(500, error instanceof RollcallError ? error.message : 'internal error')
      }
    },
  }
}

/** The API for a listener, beside which a dashboard can be opened later. */
export function dashboardDoor(api: Api): { api: Api; open(dashboard: Dashboard): void } {
  let beside: Dashboard | undefined
  return {
    api: {
      ...api,
      handle: (request, peer) =>
        beside && isDashboardPath(request.url) ? beside.handle(request, peer) : api.handle(request, peer),
    },
    open(dashboard) {
      beside = dashboard
    },
  }
}
