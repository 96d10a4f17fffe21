// An external signer in one file: the protocol of docs/reference/external-signer.md with keys from PEM files.
// A real one would ask an HSM or a key service instead, and judge what it signs.
// Usage: node signer.mjs SOCKET NAME=KEY.pem …
import { createHash, createPrivateKey, createPublicKey, sign } from 'node:crypto'
import { chmodSync, readFileSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'

const [socket, ...named] = process.argv.slice(2)
if (!socket || named.length === 0) {
  console.error('usage: node signer.mjs SOCKET NAME=KEY.pem …')
  process.exit(2)
}

const mostBody = 128 * 1024
const digests = {
  'ecdsa-with-SHA256': 'sha256',
  'ecdsa-with-SHA384': 'sha384',
  'ecdsa-with-SHA512': 'sha512',
  sha256WithRSAEncryption: 'sha256',
  Ed25519: null,
}

const keys = new Map(
  named.map(text => {
    const [name, path] = text.split('=')
    const key = createPrivateKey(readFileSync(path))
    const spki = createPublicKey(key).export({ format: 'der', type: 'spki' })
    const keyFingerprint = createHash('sha256').update(spki).digest('hex')
    return [name, { key, publicKey: spki.toString('base64'), keyFingerprint }]
  }),
)

const server = createServer(async (request, response) => {
  const answer = (status, body) =>
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  const [, name, action] = /^\/v1\/keys\/([^/]+)(\/sign)?$/.exec(request.url ?? '') ?? []
  const found = name && keys.get(decodeURIComponent(name))
  if (!found) return answer(404, { code: 'KEY_NOT_FOUND', message: 'there is no such key' })
  const { key, publicKey, keyFingerprint } = found
  if (request.method === 'GET' && !action) return answer(200, { publicKey, keyFingerprint })
  if (request.method !== 'POST' || !action)
    return answer(405, { code: 'DENIED', message: 'GET the key, or POST to its /sign' })
  const order = parse(await body(request))
  const digest = digests[order?.algorithm]
  if (digest === undefined || typeof order.data !== 'string')
    return answer(400, { code: 'DENIED', message: 'algorithm and data are needed' })
  const signature = sign(digest, Buffer.from(order.data, 'base64'), key).toString('base64')
  answer(200, { signature, keyFingerprint })
})

async function body(request) {
  const chunks = []
  let size = 0
  for await (const chunk of request) {
    size += chunk.length
    if (size > mostBody) return ''
    chunks.push(chunk)
  }
  return Buffer.concat(chunks).toString()
}

function parse(text) {
  try {
    return JSON.parse(text)
  } catch {
    return undefined // The answer says what is needed.
  }
}

rmSync(socket, { force: true })
process.umask(0o177)
server.listen(socket, () => {
  chmodSync(socket, 0o600)
  console.log(`ready ${socket}`)
})
process.on('SIGTERM', () => server.close(() => process.exit(0)))
