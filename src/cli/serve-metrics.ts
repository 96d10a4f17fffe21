import type { AddressInfo } from 'node:net'
import { InvalidArgumentError } from 'commander'
import type { Registry } from 'prom-client'
import { RollcallError, systemCode } from '../errors.ts'
import { createServer } from '../kube/node-http.ts'
import { parseIp } from '../x509/ip.ts'

export interface ListenAddress {
  /** An IP address without brackets. */
  host: string
  /** 0: any free one. */
  port: number
}

/** `127.0.0.1:9108` or `[::1]:9108`, for commander. */
export function listenAddress(text: string): ListenAddress {
  const [, bracketed, plain, digits] = /^(?:\[([^\]]+)\]|([^:]+)):(\d{1,5})$/.exec(text) ?? []
  const host = bracketed ?? plain ?? ''
  const port = Number(digits)
  if (!parseIp(host) || !(port <= 65_535))
    throw new InvalidArgumentError('Give ADDRESS:PORT, like 127.0.0.1:9108.')
  return { host, port }
}

/**
 * Serves GET /metrics over plain HTTP: no credential is asked for, so the address must be one that only who may know can
 * reach. Gives the URL. Rejects with PORT_IN_USE or the system's error.
 */
export async function serveMetrics(
  { host, port }: ListenAddress,
  registry: Registry,
): Promise<{ url: string; close(): Promise<void> }> {
  const server = createServer((request, response) => {
    if (request.url?.split('?')[0] !== '/metrics') return response.writeHead(404).end('GET /metrics\n')
    if (request.method !== 'GET') return response.writeHead(405, { allow: 'GET' }).end()
    registry.metrics().then(
      text => response.writeHead(200, { 'content-type': registry.contentType }).end(text),
      error => response.writeHead(500).end(`${error}\n`),
    )
  })
  await new Promise<void>((resolve, reject) => {
    server.once('error', error => {
      const message = `--metrics-listen: port ${port} of ${host} is taken.`
      reject(systemCode(error) === 'EADDRINUSE' ? new RollcallError('PORT_IN_USE', message, { port }) : error)
    })
    server.listen(port, host, resolve)
  })
  const bound = (server.address() as AddressInfo).port
  return {
    url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}/metrics`,
    close() {
      server.closeAllConnections()
      return new Promise(resolve => server.close(() => resolve()))
    },
  }
}
