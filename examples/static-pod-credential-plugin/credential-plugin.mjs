// A credential plugin for `rollcall agent`, served by a static pod: HTTP/1.1 and JSON on a unix socket. It stands in for
// one that asks an HSM, a TPM or a cloud; this one hands out the bootstrap token of a file. Any language will do.
import { chmodSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { dirname } from 'node:path'

const { SOCKET, TOKEN_FILE, SERVER, CA_FILE } = process.env

const server = createServer(async (request, response) => {
  const answer = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (request.method === 'GET' && request.url === '/v1/info') {
    answer(200, { apiVersion: 'plugin.rollcall.dev/v1', name: 'example', capabilities: ['credential'] })
    return
  }
  if (request.method !== 'POST' || request.url !== '/v1/credential') {
    answer(404, { code: 'NOT_FOUND', message: 'this plugin serves POST /v1/credential' })
    return
  }
  let text = ''
  for await (const chunk of request) text += chunk
  const { reason, nodeName } = JSON.parse(text)
  console.log(`${nodeName} asks for a credential: ${reason}`)
  try {
    const token = readFileSync(TOKEN_FILE, 'utf8').trim()
    const ca = readFileSync(CA_FILE).toString('base64')
    answer(200, { token, cluster: { server: SERVER, 'certificate-authority-data': ca } })
  } catch (error) {
    // The agent waits and asks again.
    answer(503, { code: 'NOT_READY', message: String(error.code) })
  }
})

mkdirSync(dirname(SOCKET), { recursive: true, mode: 0o700 })
rmSync(SOCKET, { force: true })
server.listen(SOCKET, () => chmodSync(SOCKET, 0o600))
process.on('SIGTERM', () => process.exit(0))
