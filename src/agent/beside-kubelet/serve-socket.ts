import type { Server } from 'node:http'
import { connect } from 'node:net'
import { RollcallError, systemCode } from '../../errors.ts'
import { createServer } from '../../kube/node-http.ts'
import type { ServeSocket, SocketOptions } from './local-doors.ts'

/** Over node:http. Who may connect is decided by the folder: Node.js cannot ask the kernel who is at the other end. */
export const serveSocket: ServeSocket = async options => {
  const server = createServer((request, response) => {
    const gone = new AbortController()
    response.once('close', () => gone.abort())
    request.resume()
    const { method = '', url = '/' } = request
    options.answer({ method, url, signal: gone.signal }).then(
      ({ status, body }) => {
        response.writeHead(status, { 'content-type': 'application/json' })
        response.end(body)
      },
      () => response.destroy(),
    )
  })
  await listen(server, options).catch(async error => {
    if (systemCode(error) !== 'EADDRINUSE') throw error
    if (await answers(options.path))
      throw new RollcallError('SOCKET_UNUSABLE', `Another agent serves ${options.path}.`)
    await options.disk.remove(options.path)
    await listen(server, options)
  })
  return {
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}

function listen(server: Server, { path }: SocketOptions): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen(path, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

function answers(path: string): Promise<boolean> {
  return new Promise(resolve => {
    const socket = connect(path)
    socket.once('error', () => resolve(false))
    socket.once('connect', () => {
      socket.destroy()
      resolve(true)
    })
  })
}
