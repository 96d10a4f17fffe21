// Keeps the heads of decision logs: appends what `rollcall controller --head-webhook` sends, and never changes a line.
// Run it where the cluster's administrators have no rights.
//
//   node receiver.mjs ADDRESS:PORT cert.pem key.pem token.txt heads.jsonl
import { timingSafeEqual } from 'node:crypto'
import { appendFileSync, readFileSync } from 'node:fs'
import { createServer } from 'node:https'

const [address = '127.0.0.1:8443', cert, key, token, file] = process.argv.slice(2)
const expected = Buffer.from(`Bearer ${readFileSync(token, 'utf8').trim()}`)
const isExpected = given => given.length === expected.length && timingSafeEqual(given, expected)

const server = createServer(
  { cert: readFileSync(cert), key: readFileSync(key) },
  async (request, response) => {
    if (!isExpected(Buffer.from(request.headers.authorization ?? ''))) return response.writeHead(401).end()
    let body = ''
    for await (const chunk of request.setEncoding('utf8')) {
      body += chunk
      if (body.length > 4096) return response.writeHead(413).end()
    }
    try {
      // On one line, whatever was sent; on the disk before it is answered.
      appendFileSync(file, `${JSON.stringify(JSON.parse(body))}\n`, { flush: true })
    } catch (error) {
      return response.writeHead(error instanceof SyntaxError ? 400 : 507).end()
    }
    response.writeHead(204).end()
  },
)

const [host, port] = address.split(':')
server.listen(Number(port), host, () => {
  console.log(`ready https://${host}:${server.address().port}`)
})
