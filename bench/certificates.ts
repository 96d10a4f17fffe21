// What one certificate costs the server, from the POST to the certificate on a watch, as a kubelet asks for it: on
// connections that stay open, and on a connection of its own (the API resumes no TLS sessions).
import { type ClientHttp2Session, connect } from 'node:http2'
import { join } from 'node:path'
import { systemClock } from '../src/host/clock.ts'
import { systemDisk } from '../src/host/disk.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { connectionConfig } from '../src/kube/kubeconfig-connection.ts'
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { cpuOf, inParallel, line, residentMemory, whole } from './measure.ts'
import { type Asked, requests } from './requests.ts'

const WARM_UP = 1000
const COUNT = Number(process.argv[2] ?? 2000)
/** Certificates under way at a time. */
const WIDTH = 32
const CONNECTIONS = 4
const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

const folder = temporaryFolder()
const server = startRollcall(['server', '--dir', folder.path, '--port', '0'])
await server.ready
const serverProcess = server.child.pid ?? 0
const kubeconfig = join(folder.path, 'bootstrap.kubeconfig')
const parsed = parseKubeconfig(new TextDecoder().decode(await systemDisk.read(kubeconfig)), kubeconfig)
const context = selectContext(parsed)
const config = await connectionConfig(context, kubeconfig, { clock: systemClock, disk: systemDisk })
const authorization = `Bearer ${config.bearerToken?.reveal()}`
const tls = { ca: config.certificateAuthority ?? '' }

function post(session: ClientHttp2Session, csr: Asked['csr']): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      ':method': 'POST',
      ':path': collection,
      'content-type': 'application/json',
      authorization,
    }
    const stream = session.request(headers)
    stream.on('response', headers =>
      headers[':status'] === 201 ? undefined : reject(new Error(`POST: ${headers[':status']}`)),
    )
    stream.on('error', reject)
    stream.on('end', resolve)
    stream.resume()
    stream.end(JSON.stringify(csr))
  })
}

/** Watches the one request until it has its certificate. */
function issued(session: ClientHttp2Session, name: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const path = `${collection}?watch=true&fieldSelector=${encodeURIComponent(`metadata.name=${name}`)}`
    const stream = session.request({ ':path': path, authorization })
    let text = ''
    stream.setEncoding('utf8')
    stream.on('data', chunk => {
      text += chunk
      if (!text.includes('"certificate":"')) return
      stream.close()
      resolve()
    })
    stream.on('error', reject)
    stream.on('end', () => reject(new Error(`the watch of ${name} ended`)))
  })
}

async function certify(session: ClientHttp2Session, { csr }: Asked): Promise<void> {
  await post(session, csr)
  await issued(session, csr.metadata.name)
}

/** A session that is ready for requests. */
function open(): Promise<ClientHttp2Session> {
  return new Promise((resolve, reject) => {
    const session = connect(config.server, tls)
    session.once('error', reject)
    session.once('connect', () => resolve(session))
  })
}

interface Cost {
  perSecond: number
  /** Milliseconds of the server's CPU for one certificate. */
  cpu: number
}

async function cost(asked: readonly Asked[], work: (one: Asked) => Promise<void>): Promise<Cost> {
  const cpu = cpuOf(serverProcess)
  const began = performance.now()
  await inParallel(asked, WIDTH, work)
  const seconds = (performance.now() - began) / 1000
  return { perSecond: asked.length / seconds, cpu: (cpuOf(serverProcess) - cpu) / asked.length }
}

const asked = await requests(WARM_UP + 2 * COUNT, 'client')
const take = (count: number) => asked.splice(0, count)
const sessions = await Promise.all(Array.from({ length: CONNECTIONS }, () => open()))
let turn = 0
const kept = (one: Asked) => certify(sessions[turn++ % CONNECTIONS] as ClientHttp2Session, one)
await cost(take(WARM_UP), kept)
const onKept = await cost(take(COUNT), kept)
const onNew = async (one: Asked) => {
  const session = await open()
  await certify(session, one)
  session.close()
}
const onNewOnes = await cost(take(COUNT), onNew)
const memory = residentMemory(serverProcess)
for (const session of sessions) session.destroy()
await server.stop()
folder.remove()

const rate = ({ perSecond, cpu }: Cost) => `${cpu.toFixed(2)} ms (${whole(perSecond)}/s)`
line(
  'certificates',
  `server CPU each, POST to watch: connection kept ${rate(onKept)}, new ${rate(onNewOnes)}; ` +
    `${whole(memory)} MiB resident after ${whole(WARM_UP + 2 * COUNT)}`,
  'targets: kept ≤ 1.2 ms, new ≤ 2.0 ms, ≥ 300/s, ≤ 350 MiB after 6,000',
)
