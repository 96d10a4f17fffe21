import type { Api } from '../apiserver/api.ts'
import type { ObjectReader } from '../apiserver/reader.ts'
import { createDashboard, type Dashboard } from '../dashboard/dashboard.ts'
import type { KnownLeaves } from '../dashboard/fleet/known-leaves.ts'
import type { RecentDisk } from '../dashboard/recent-decisions.ts'
import { type RunningLoopback, serveLoopback } from '../dashboard/serve-loopback.ts'
import type { Clock, Log, Random } from '../ports.ts'
import { apiserverDnsNames } from './identities.ts'
import { lookAtTls } from './look-at-tls.ts'

export interface DashboardStart {
  api: Api
  reader: ObjectReader
  leaves?: KnownLeaves
  decisionLog?: string
  /** Of the API, e.g. `https://127.0.0.1:6443`. */
  server: string
  /** Of the page, on 127.0.0.1; 0: any free one. */
  port: number
  clock: Clock
  random: Random
  disk: RecentDisk
  log: Log
}

/** The dashboard on a loopback port of its own, for browsers. Rejects with PORT_IN_USE. */
export async function startDashboard(
  options: DashboardStart,
): Promise<{ dashboard: Dashboard; running: RunningLoopback }> {
  const { port, clock, log, server } = options
  let url = ''
  const dashboard = createDashboard({
    ...options,
    hostnames: apiserverDnsNames,
    server: () => server,
    url: () => url,
    lookAtTls,
  })
  const running = await serveLoopback({ dashboard, port, clock, log })
  url = `http://127.0.0.1:${running.port}/dashboard/`
  return { dashboard, running }
}
