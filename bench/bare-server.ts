// What node:http2 gives over TLS with nothing behind it: answers every request with the bytes it is told.
// node bench/bare-server.ts CERT KEY BYTES; prints its port.
import { readFileSync } from 'node:fs'
import { createSecureServer } from 'node:http2'
import type { AddressInfo } from 'node:net'

const [certificate = '', key = '', bytes = '0'] = process.argv.slice(2)
const body = Buffer.alloc(Number(bytes), 'x')
const server = createSecureServer({ cert: readFileSync(certificate), key: readFileSync(key) })
server.on('request', (request, response) => {
  request.on('end', () => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': body.length })
    response.end(body)
  })
  request.resume()
})
server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port))
process.on('SIGTERM', () => process.exit(0))
