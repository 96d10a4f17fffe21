/** What a careless operator does with `rollcall doctor`: one clear finding or sentence, and the exit code that scripts go by. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import { generateSigner, loadSigner } from '../src/keys/private-key.ts'
import { Secret } from '../src/keys/secret.ts'
import { issueCertificate } from '../src/keys/self-signed.ts'
import { encodeKubeconfig } from '../src/kube/encode-kubeconfig.ts'
import { authorityOf } from '../src/sign/authority.ts'
import { foreignPair, listenHttps } from '../src/testing/https-server.ts'
import { seededRandom } from '../src/testing/seeded-random.ts'
import { nameOf } from '../src/x509/name.ts'
import { oids } from '../src/x509/oid.ts'
import {
  executable,
  type RollcallProcess,
  runRollcall,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'

const folder = temporaryFolder()
const path = (name: string) => join(folder.path, name)
const hour = 3_600_000
const admin = path('held/admin.kubeconfig')
let held: RollcallProcess
let url: string

before(async () => {
  held = startRollcall(['server', '--dir', path('held'), '--port', '0'])
  url = /https:\/\/\S+/.exec(await held.ready)?.[0] ?? ''
})
after(async () => {
  await held?.stop()
  folder.remove()
})

const doctor = (...args: string[]) => runRollcall(['doctor', ...args], { HOME: folder.path, KUBECONFIG: '' })

/** A kubeconfig whose certificate is of the server's own CA; times in milliseconds since the epoch. */
async function kubeconfigOf(commonName: string, groups: string[], notAfter: number): Promise<string> {
  const pem = readFileSync(path('held/pki/ca.crt'), 'utf8')
  const signer = loadSigner(readFileSync(path('held/pki/ca.key'), 'utf8'))
  const key = generateSigner('ECDSA-P256', seededRandom(1))
  const certificate = await issueCertificate({
    ca: authorityOf(pem, signer),
    subject: nameOf({ commonName, organizations: groups }),
    spki: key.publicKey,
    notBefore: notAfter - 24 * hour,
    notAfter,
    random: seededRandom(2),
    extensions: { extendedKeyUsage: [oids.clientAuth] },
  })
  const file = path(`${commonName}.kubeconfig`)
  const user = { clientCertificate: { pem: certificate }, clientKey: { pem: key.exportPem() } }
  const text = encodeKubeconfig({ server: url, certificateAuthority: { pem }, user })
  writeFileSync(file, text.reveal())
  return file
}

/** What the doctor found, as `SEVERITY ID`. */
const found = (json: string): string[] =>
  JSON.parse(json).findings.map(({ severity, id }: { severity: string; id: string }) => `${severity} ${id}`)

test('a kubeconfig that is not there, or is none, is one sentence and 2', async () => {
  writeFileSync(path('none'), 'hello')
  for (const file of [path('missing'), path('none')]) {
    const { code, stdout, stderr } = await doctor('--kubeconfig', file, '-o', 'json')
    assert.equal(code, 2)
    assert.equal(stdout, '')
    assert.match(stderr, /^rollcall: [^\n]+\n$/)
  }
})

test('a certificate that has ended is Z05 alone, and 3', async () => {
  const file = await kubeconfigOf('late', ['system:masters'], Date.now() - hour)
  const { code, stdout, stderr } = await doctor('--kubeconfig', file, '-o', 'json')
  assert.deepEqual(found(stdout), ['critical Z05'], stdout)
  assert.match(stdout, /It ended 60m ago/)
  assert.equal(stderr, '')
  assert.equal(code, 3)
})

test('without rights nothing is OK that could not be looked at: Z04, and 4', async () => {
  const file = await kubeconfigOf('nobody', [], Date.now() + 23 * hour)
  const { code, stdout } = await doctor('--kubeconfig', file, '-o', 'json')
  assert.deepEqual(found(stdout), ['info Z04'])
  assert.equal(code, 4)
})

test('a web page in place of the API is A12 alone, in a report that fits a screen, and 3', async () => {
  const pair = await foreignPair('login')
  const page = await listenHttps({ cert: pair.certificate, key: pair.key }, (_, response) =>
    response.writeHead(200, { 'content-type': 'text/html' }).end('<html>Please log in</html>'),
  )
  try {
    const certificateAuthority = { pem: pair.certificate }
    const text = encodeKubeconfig({
      server: page.url,
      certificateAuthority,
      user: { token: new Secret('x') },
    })
    writeFileSync(path('page'), text.reveal())
    const { code, stdout } = await doctor('--kubeconfig', path('page'))
    assert.match(stdout, /^CRIT A12 /m)
    assert.match(stdout, /evidence +\S+ answered a web page, so it is no Kubernetes API/)
    assert.ok(stdout.split('\n').length < 25, stdout)
    assert.equal(code, 3)
  } finally {
    await page.stop()
  }
})

test('who reads one line of the report ends nothing and hides nothing', async () => {
  const script = '"$0" doctor --kubeconfig "$1" -o json | head -c 1; echo " $PIPESTATUS"'
  const { stdout, stderr } = await new Promise<{ stdout: string; stderr: string }>((resolve, reject) => {
    execFile('bash', ['-c', script, executable, admin], (error, stdout, stderr) =>
      error ? reject(error) : resolve({ stdout, stderr }),
    )
  })
  assert.equal(stdout, '{ 0\n')
  assert.equal(stderr, '')
})
