import type { IncomingMessage } from 'node:http'
import { connect, type Socket } from 'node:net'
import { request as httpRequest } from '../kube/node-http.ts'
import type { HttpRequest, Net } from '../ports.ts'

/** Loading TLS takes 15 ms, which nobody who asks without it should wait for. */
const secureRequest = () => process.getBuiltinModule('node:https').request

export const systemNet: Net = {
  http: order =>
    new Promise((resolve, reject) => {
      const { url, method, headers = {}, body, socketPath, signal, mostBody } = order
      const send = url.startsWith('https:') ? secureRequest() : httpRequest
      const length = body === undefined ? {} : { 'content-length': String(Buffer.byteLength(body)) }
      const options = {
        method,
        headers: { ...headers, ...length },
        signal,
        agent: false,
        rejectUnauthorized: false,
        ...(socketPath !== undefined && { socketPath }),
      }
      const request = send(url, options, response => {
        readBody(response, mostBody).then(body => resolve({ status: response.statusCode ?? 0, body }), reject)
      })
      request.on('error', reject)
      request.end(body)
    }),
  connect: (host, port, signal) =>
    new Promise((resolve, reject) => {
      const socket = connect({ host, port, signal })
      socket.once('error', reject)
      socket.once('connect', () => {
        socket.destroy()
        resolve()
      })
    }),
  open,
}

function open(host: string, port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port, allowHalfOpen: true })
    socket.once('error', reject)
    socket.once('connect', () => {
      socket.off('error', reject)
      resolve(socket)
    })
  })
}

async function readBody(response: IncomingMessage, most: HttpRequest['mostBody']): Promise<string> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response as AsyncIterable<Buffer>) {
    chunks.push(chunk.subarray(0, most - size))
    size += chunks.at(-1)?.length ?? 0
    if (size >= most) break
  }
  return Buffer.concat(chunks).toString('utf8')
}
