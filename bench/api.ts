// POST of CertificateSigningRequests and GET of one, over TLS and HTTP/2 into a real `rollcall server`.
import { type ClientHttp2Session, connect } from 'node:http2'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { systemClock } from '../src/host/clock.ts'
import { systemDisk } from '../src/host/disk.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { connectionConfig } from '../src/kube/kubeconfig-connection.ts'
import type { ConnectionConfig } from '../src/kube/transport.ts'
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { cpuOf, inParallel, line, micros, startProgram, whole } from './measure.ts'
import { requests } from './requests.ts'

const POSTS = 3000
const GETS = 10_000
const WARM_UP = 500
/** Requests under way at a time, over this many connections. */
const WIDTH = 32
const CONNECTIONS = 4
const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

interface Request {
  method: 'GET' | 'POST'
  path: string
  body?: string
}

function send(session: ClientHttp2Session, { method, path, body }: Request): Promise<number> {
  return new Promise((resolve, reject) => {
    const headers = { ':method': method, ':path': path, 'content-type': 'application/json' }
    const stream = session.request(headers, { endStream: body === undefined })
    let status = 0
    let bytes = 0
    stream.on('response', headers => {
      status = headers[':status'] ?? 0
    })
    stream.on('data', (chunk: Uint8Array) => {
      bytes += chunk.length
    })
    stream.on('error', reject)
    stream.on('end', () =>
      status === 200 || status === 201 ? resolve(bytes) : reject(new Error(`${method} ${path}: ${status}`)),
    )
    if (body !== undefined) stream.end(body)
  })
}

interface Rate {
  perSecond: number
  /** Milliseconds of the server's CPU for one request. */
  serverCpu: number
}

/** Sends them all, the first WARM_UP of them uncounted. */
async function run(server: number, sessions: ClientHttp2Session[], all: readonly Request[]): Promise<Rate> {
  let turn = 0
  const next = () => sessions[turn++ % sessions.length] as ClientHttp2Session
  const sendAll = (some: readonly Request[]) =>
    inParallel(some, WIDTH, async request => {
      await send(next(), request)
    })
  await sendAll(all.slice(0, WARM_UP))
  const counted = all.slice(WARM_UP)
  const cpu = cpuOf(server)
  const began = performance.now()
  await sendAll(counted)
  const seconds = (performance.now() - began) / 1000
  return { perSecond: counted.length / seconds, serverCpu: (cpuOf(server) - cpu) / counted.length }
}

function open(config: ConnectionConfig): ClientHttp2Session[] {
  const { server, certificateAuthority, clientCertificate } = config
  const pair = clientCertificate && {
    cert: clientCertificate.certificate,
    key: clientCertificate.key.reveal(),
  }
  return Array.from({ length: CONNECTIONS }, () =>
    connect(server, { ca: certificateAuthority ?? '', ...pair }),
  )
}

const folder = temporaryFolder()
const server = startRollcall(['server', '--no-controllers', '--dir', folder.path, '--port', '0'])
await server.ready
const kubeconfig = join(folder.path, 'admin.kubeconfig')
const parsed = parseKubeconfig(new TextDecoder().decode(await systemDisk.read(kubeconfig)), kubeconfig)
const config = await connectionConfig(selectContext(parsed), kubeconfig, {
  clock: systemClock,
  disk: systemDisk,
})
const sessions = open(config)
const asked = await requests(WARM_UP + POSTS, 'client')
const posts = asked.map(
  ({ csr }): Request => ({ method: 'POST', path: collection, body: JSON.stringify(csr) }),
)
const gets = Array.from(
  { length: WARM_UP + GETS },
  (_, index): Request => ({ method: 'GET', path: `${collection}/csr-${index % POSTS}` }),
)
const serverProcess = server.child.pid ?? 0
const post = await run(serverProcess, sessions, posts)
const get = await run(serverProcess, sessions, gets)
const size = await send(sessions[0] as ClientHttp2Session, gets[0] as Request)
for (const session of sessions) session.close()

const pki = (name: string) => join(folder.path, 'pki', name)
const bareFile = fileURLToPath(new URL('bare-server.ts', import.meta.url))
const bare = await startProgram(bareFile, [pki('apiserver.crt'), pki('apiserver.key'), String(size)])
const bareSessions = open({ ...config, server: `https://127.0.0.1:${bare.firstLine}` })
const bareGet = await run(bare.child.pid ?? 0, bareSessions, gets)
const barePost = await run(bare.child.pid ?? 0, bareSessions, posts)
for (const session of bareSessions) session.close()
bare.child.kill('SIGTERM')
await server.stop()
folder.remove()

const rate = ({ perSecond, serverCpu }: Rate) =>
  `${whole(perSecond)}/s, ${micros(serverCpu)} of server CPU each`
line(
  'API',
  `POST CSR ${rate(post)}; GET CSR ${rate(get)} (TLS, HTTP/2, ${WIDTH} under way, client on the same machine)`,
  `node:http2 with nothing behind it: POST ${rate(barePost)}; GET ${rate(bareGet)}`,
)
