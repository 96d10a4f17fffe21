// The other end of cloud-identity.sh, in one file: takes a machine's identity document, verifies it, and gives a bootstrap
// token for ten minutes. It runs where the control plane does, with a kubeconfig that may create bootstrap tokens.
// Usage: node exchange.mjs SETTINGS.json
//   { "port", "certificate", "key": PEM files of this server,
//     "issuer", "audience", "keys": JSON Web Key Set of the issuer (https://…, or a file),
//     "projects": [ those whose machines may join ],
//     "rollcall": path of the program, "kubeconfig", "groups": of the tokens }
import { execFile } from 'node:child_process'
import { createPublicKey, verify } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { promisify } from 'node:util'

const settings = JSON.parse(readFileSync(process.argv[2] ?? '/dev/stdin', 'utf8'))
const mostBody = 16 * 1024
/** Documents that were changed for a token: each is good for one. */
const used = new Map()

const server = createServer(
  { cert: readFileSync(settings.certificate), key: readFileSync(settings.key), minVersion: 'TLSv1.2' },
  async (request, response) => {
    try {
      const node = new URL(request.url, 'https://exchange').searchParams.get('node') ?? ''
      const machine = await machineOf(await bodyOf(request), node)
      const credential = await credentialFor(machine)
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(credential))
      console.log(`${machine.name} (${machine.id}): token ${credential.status.token.split('.')[0]}`)
    } catch (error) {
      const refused = error instanceof Refusal
      // Neither the document nor the token is written anywhere.
      console.log(refused ? `refused: ${error.message}` : `failed: ${error.code ?? error.message}`)
      response.writeHead(refused ? 403 : 500).end()
    }
  },
)
server.requestTimeout = 10_000
server.listen(settings.port, settings.address ?? '0.0.0.0', () =>
  console.log(`ready ${server.address().port}`),
)

class Refusal extends Error {}

async function bodyOf(request) {
  let body = ''
  for await (const chunk of request.setEncoding('utf8')) {
    body += chunk
    if (body.length > mostBody) throw new Refusal('the document is too long')
  }
  return body
}

/** The machine that a document (a JWT, RS256) speaks of. It must be the one whose node is asked for. */
async function machineOf(document, node) {
  const [head, claims, signature, ...more] = document.trim().split('.')
  if (!signature || more.length > 0) throw new Refusal('this is no identity document')
  const { alg, kid } = decoded(head)
  // The algorithm is ours to say: a document must not choose a weaker one.
  if (alg !== 'RS256') throw new Refusal(`algorithm ${alg}`)
  const key = (await issuerKeys()).find(key => key.kid === kid && key.kty === 'RSA')
  if (!key) throw new Refusal('its key is not the issuer’s')
  const publicKey = createPublicKey({ key, format: 'jwk' })
  const signed = Buffer.from(`${head}.${claims}`)
  if (!verify('sha256', signed, publicKey, Buffer.from(signature, 'base64url')))
    throw new Refusal('its signature is wrong')
  const { iss, aud, exp, iat, google } = decoded(claims)
  const now = Date.now() / 1000
  if (iss !== settings.issuer) throw new Refusal(`issuer ${iss}`)
  if (aud !== settings.audience) throw new Refusal(`it is for ${aud}`)
  if (!(exp > now && iat < now + 60)) throw new Refusal('it is not valid now')
  const { instance_id: id, instance_name: name, project_id: project } = google?.compute_engine ?? {}
  if (!id || !name || !settings.projects.includes(project)) throw new Refusal(`project ${project}`)
  if (name !== node) throw new Refusal(`${name} asks for node ${node}`)
  for (const [known, until] of used) if (until < now) used.delete(known)
  if (used.has(signature)) throw new Refusal('it was used before')
  used.set(signature, exp)
  return { id: String(id), name }
}

function decoded(part) {
  try {
    return Object(JSON.parse(Buffer.from(part, 'base64url').toString()))
  } catch {
    throw new Refusal('this is no identity document')
  }
}

/** Read for each document: a cloud changes its keys, and machines join rarely. */
async function issuerKeys() {
  const { keys } = settings
  const text = /^https?:/.test(keys) ? await (await fetch(keys)).text() : readFileSync(keys, 'utf8')
  return JSON.parse(text).keys
}

async function credentialFor({ id, name }) {
  const { rollcall, kubeconfig, groups } = settings
  const description = `machine ${id} joins as ${name}`
  const { stdout } = await promisify(execFile)(rollcall, [
    ...['token', 'create', '--kubeconfig', kubeconfig, '--ttl', '10m', '--usages', 'authentication'],
    ...['--groups', groups.join(','), '--description', description, '--output', 'json'],
  ])
  const { token, expires } = JSON.parse(stdout)
  return {
    apiVersion: 'client.authentication.k8s.io/v1',
    kind: 'ExecCredential',
    status: { token, expirationTimestamp: expires },
  }
}
