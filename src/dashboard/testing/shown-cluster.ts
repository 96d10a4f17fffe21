/** A cluster with its dashboard, and people who look at it. */

import { systemDisk } from '../../host/disk.ts'
import type { ApiResponse, Peer } from '../../kube/transport.ts'
import { silentLog } from '../../ports.ts'
import { type ControlledCluster, onCluster } from '../../testing/controlled-cluster.ts'
import { memoryDisk } from '../../testing/memory-disk.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { createDashboard, type Dashboard } from '../dashboard.ts'

export interface Answered {
  status: number
  headers: Record<string, string>
  /** Of a JSON body. */
  body: Record<string, unknown>
  text: string
}

export interface ShownCluster extends ControlledCluster {
  dashboard: Dashboard
  disk: ReturnType<typeof memoryDisk>
  /** One call as a program or a page makes it; `peer` absent: from a browser without a certificate. */
  call(path: string, options?: CallOptions): Promise<Answered>
  /** A session of this user, opened by a link; gives its token. */
  login(username: string, ...groups: string[]): Promise<string>
}

export interface CallOptions {
  token?: string
  order?: unknown
  method?: string
  headers?: Record<string, string>
  peer?: Peer
}

const browser: Peer = { remoteAddress: '127.0.0.1' }
export const host = '127.0.0.1:8443'

export const onShownCluster = (run: (cluster: ShownCluster) => Promise<void>) =>
  onCluster(async cluster => {
    const disk = memoryDisk()
    const dashboard = createDashboard({
      api: cluster.api,
      reader: cluster.reader,
      decisionLog: '/d/decisions.log',
      hostnames: ['localhost'],
      server: () => 'https://127.0.0.1:6443',
      url: () => `http://${host}/dashboard/`,
      lookAtTls: async ({ host, port }) => ({ host, port, chain: [], failure: 'not looked at' }),
      clock: cluster.clock,
      random: seededRandom(5),
      disk: { ...disk, read: path => (path.startsWith('/d/') ? disk.read(path) : systemDisk.read(path)) },
      log: silentLog,
    })

    const call: ShownCluster['call'] = async (path, options = {}) => {
      const { token, order, headers = {}, peer = browser } = options
      const response = await dashboard.handle(
        {
          method: options.method ?? (order === undefined ? 'GET' : 'POST'),
          url: path.startsWith('/') ? path : `/dashboard/api/${path}`,
          headers: {
            host,
            ...(token && { authorization: `Bearer ${token}` }),
            ...(order !== undefined && { 'content-type': 'application/json' }),
            ...headers,
          },
          ...(order !== undefined && { body: new TextEncoder().encode(JSON.stringify(order)) }),
        },
        peer,
      )
      return read(response)
    }

    await run({
      ...cluster,
      dashboard,
      disk,
      call,
      async login(username, ...groups) {
        const peer = await cluster.peerOf(username, ...groups)
        const { body } = await call('links', { order: {}, peer })
        const key = String(body.url).split('#key=')[1]
        return String((await call('sessions', { order: { key } })).body.token)
      },
    })
  })

async function read({ status, headers, body }: ApiResponse): Promise<Answered> {
  if (!(body instanceof Uint8Array)) {
    await body[Symbol.asyncIterator]().return?.()
    return { status, headers, body: {}, text: '' }
  }
  const text = new TextDecoder().decode(body)
  const isJson = headers['content-type'] === 'application/json'
  return { status, headers, text, body: isJson ? JSON.parse(text) : {} }
}
