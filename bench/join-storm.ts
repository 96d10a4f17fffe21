/** Nodes that join: each POSTs its request by a bootstrap token over HTTP/2 and watches it until it has its certificate. */
import { type ClientHttp2Session, connect } from 'node:http2'
import { join } from 'node:path'
import type { TLSSocket } from 'node:tls'
import { systemClock } from '../src/host/clock.ts'
import { systemDisk } from '../src/host/disk.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { connectionConfig } from '../src/kube/kubeconfig-connection.ts'
import { cpuOf, inParallel, whole } from './measure.ts'
import type { Asked } from './requests.ts'

/** Certificates under way at a time. */
const WIDTH = 32
const CONNECTIONS = 4
const collection = '/apis/certificates.k8s.io/v1/certificatesigningrequests'

export interface Cost {
  perSecond: number
  /** Milliseconds of the server's CPU for one certificate. */
  cpu: number
}

export interface Storm {
  /** On a few connections that stay open. */
  onKept(asked: readonly Asked[]): Promise<Cost>
  /** On a connection of its own each, after a whole handshake, or a resumed one. */
  onNew(asked: readonly Asked[], handshake: 'whole' | 'resumed'): Promise<Cost>
  certify(asked: Asked): Promise<void>
  close(): void
}

/** Against the server of process `processId` that keeps its state in `folder`. */
export async function startStorm(folder: string, processId: number): Promise<Storm> {
  const path = join(folder, 'bootstrap.kubeconfig')
  const context = selectContext(parseKubeconfig(new TextDecoder().decode(await systemDisk.read(path)), path))
  const config = await connectionConfig(context, path, { clock: systemClock, disk: systemDisk })
  const authorization = `Bearer ${config.bearerToken?.reveal()}`

  /** A connection that is ready for requests. */
  function open(session?: Buffer): Promise<ClientHttp2Session> {
    return new Promise((resolve, reject) => {
      const opened = connect(config.server, {
        ca: config.certificateAuthority ?? '',
        ...(session && { session }),
      })
      opened.once('error', reject)
      opened.once('connect', () => resolve(opened))
    })
  }

  async function certifyOn(session: ClientHttp2Session, { csr }: Asked): Promise<void> {
    await post(session, authorization, csr)
    await issued(session, authorization, csr.metadata.name)
  }

  async function cost(asked: readonly Asked[], work: (one: Asked) => Promise<void>): Promise<Cost> {
    const cpu = cpuOf(processId)
    const began = performance.now()
    await inParallel(asked, WIDTH, work)
    const seconds = (performance.now() - began) / 1000
    return { perSecond: asked.length / seconds, cpu: (cpuOf(processId) - cpu) / asked.length }
  }

  const kept = await Promise.all(Array.from({ length: CONNECTIONS }, () => open()))
  let turn = 0
  return {
    onKept: asked => cost(asked, one => certifyOn(kept[turn++ % CONNECTIONS] as ClientHttp2Session, one)),
    async onNew(asked, handshake) {
      const ticket = handshake === 'resumed' ? await ticketOf(await open()) : undefined
      return cost(asked, async one => {
        const session = await open(ticket)
        if (ticket && !(session.socket as TLSSocket).isSessionReused())
          throw new Error('the server did not resume the session')
        await certifyOn(session, one)
        session.close()
      })
    },
    certify: asked => certifyOn(kept[0] as ClientHttp2Session, asked),
    close() {
      for (const session of kept) session.destroy()
    },
  }
}

export const rate = ({ perSecond, cpu }: Cost) => `${cpu.toFixed(2)} ms (${whole(perSecond)}/s)`

/** What the server gives for the next time. */
function ticketOf(session: ClientHttp2Session): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    session.socket.once('session', (ticket: Buffer) => {
      session.close()
      resolve(ticket)
    })
    session.once('error', reject)
    session.once('close', () => reject(new Error('the server gave no ticket')))
    session.ping(() => {})
  })
}

function post(session: ClientHttp2Session, authorization: string, csr: Asked['csr']): Promise<void> {
  return new Promise((resolve, reject) => {
    const headers = {
      ':method': 'POST',
      ':path': collection,
      'content-type': 'application/json',
      authorization,
    }
    const stream = session.request(headers)
    stream.on('response', ({ ':status': status }) =>
      status === 201 ? undefined : reject(new Error(`POST: ${status}`)),
    )
    stream.on('error', reject)
    stream.on('end', resolve)
    stream.resume()
    stream.end(JSON.stringify(csr))
  })
}

/** Watches the one request until it has its certificate. */
function issued(session: ClientHttp2Session, authorization: string, name: string): Promise<void> {
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
