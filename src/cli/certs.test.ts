import assert from 'node:assert/strict'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { after, before, test } from 'node:test'
import {
  type ExaminedCluster,
  serverCertificate,
  startExaminedCluster,
} from '../doctor/testing/examined-cluster.ts'
import { RollcallError } from '../errors.ts'
import { generateSigner } from '../keys/private-key.ts'
import { encodeKubeconfig } from '../kube/encode-kubeconfig.ts'
import { runCommand } from '../testing/command-run.ts'
import { listenHttps } from '../testing/https-server.ts'
import { seededRandom } from '../testing/seeded-random.ts'
import { decodePem } from '../x509/pem.ts'
import { register } from './certs.ts'

const hour = 3_600_000
const key = generateSigner('Ed25519', seededRandom(96))
let cluster: ExaminedCluster
let folder: string
let chain: string

before(async () => {
  cluster = await startExaminedCluster()
  await cluster.start()
  await cluster.join('worker-1', '10.0.0.11')
  await cluster.join('worker-2', '10.0.0.12')
  folder = await mkdtemp(join(tmpdir(), 'rollcall-certs-'))
  chain = await serverCertificate(cluster, { key, dnsNames: ['api.example'], ips: ['127.0.0.1'] })
})
after(async () => {
  await cluster.close()
  await rm(folder, { recursive: true })
})

const certs = (...words: string[]) => runCommand(register, cluster.admin, cluster.clock, 'certs', ...words)

async function fileWith(name: string, content: string | Uint8Array): Promise<string> {
  const path = join(folder, name)
  await writeFile(path, content)
  return path
}

test('show tells what is in a PEM file, a DER file and a kubeconfig, and never a key', async () => {
  const pem = await fileWith('pair.pem', chain + cluster.ca.pem + key.exportPem().reveal())
  const { stdout } = await certs('show', pem)
  assert.match(stdout, /subject +CN=kube-apiserver\n/)
  assert.match(stdout, /valid +2026-03-01T11:55:00Z to 2027-03-01T12:00:00Z \(365d left, 0% used\)/)
  assert.match(stdout, /names +DNS api.example, IP 127.0.0.1\n/)
  assert.match(stdout, /kind +certificate authority/)
  assert.doesNotMatch(stdout, /PRIVATE/)
  const der = await fileWith('leaf.der', decodePem(chain)[0]?.bytes ?? '')
  assert.equal(JSON.parse((await certs('show', der, '-o', 'json')).stdout)[0].subject, 'CN=kube-apiserver')
  const user = { clientCertificate: { pem: chain }, clientKey: { pem: key.exportPem() } }
  const text = encodeKubeconfig({ server: 'https://x', certificateAuthority: { pem: cluster.ca.pem }, user })
  const subjects = JSON.parse(
    (await certs('show', await fileWith('config', text.reveal()), '-o', 'json')).stdout,
  )
  assert.deepEqual(
    subjects.map(({ subject }: { subject: string }) => subject),
    ['CN=kube-apiserver', 'CN=kubernetes'],
  )
})

test('show tells what a server presents', async () => {
  const server = await listenHttps({ cert: chain + cluster.ca.pem, key: key.exportPem().reveal() }, () => {})
  try {
    const { stdout } = await certs('show', new URL(server.url).host, '-o', 'json')
    assert.deepEqual(
      JSON.parse(stdout).map(({ subject }: { subject: string }) => subject),
      ['CN=kube-apiserver', 'CN=kubernetes'],
    )
  } finally {
    await server.stop()
  }
})

test('show says why there is nothing to show', async () => {
  const refused = (text: RegExp) => (error: unknown) =>
    error instanceof RollcallError && text.test(error.message)
  await assert.rejects(
    certs('show', '/no/such/file'),
    refused(/neither a file that can be read \(ENOENT\) nor HOST:PORT/),
  )
  await assert.rejects(certs('show', '127.0.0.1:1'), refused(/ECONNREFUSED/))
  await assert.rejects(certs('show', await fileWith('empty', 'hello')), refused(/holds no certificate/))
})

test('ls lists what requests hold, expiring what ends', async () => {
  const { stdout } = await certs('ls')
  assert.match(stdout, /^NODE +SIGNER +LEFT +USED +EXPIRES +REQUEST\n/)
  assert.equal(stdout.trim().split('\n').length, 5)
  assert.equal((await certs('ls', '--node', 'worker-2')).stdout.trim().split('\n').length, 3)

  const none = await certs('expiring')
  assert.equal(none.exitCode, 0)
  const soon = await certs('expiring', '--within', '2d', '-o', 'json')
  assert.equal(JSON.parse(soon.stdout).length, 4)
  assert.equal(soon.exitCode, 3)
  await cluster.stopControllers()
  cluster.clock.step(23 * hour)
  assert.equal((await certs('expiring')).exitCode, 3)
  await assert.rejects(certs('expiring', '--within', 'soon'), RollcallError)
})

test('-o csv is a line for each, by columns with names', async () => {
  const [header, ...lines] = (await certs('ls', '-o', 'csv')).stdout.trimEnd().split('\r\n')
  assert.equal(header, 'node,signer,subject,names,notBefore,notAfter,expired,used,request,issuer,serial')
  assert.equal(lines.length, 4)
  assert.ok(lines.every(line => /^worker-[12],kubernetes\.io\/kube/.test(line)))
  assert.match(lines.join('\n'), /,"DNS worker-1, IP 10.0.0.11",/)
  const expiring = await certs('expiring', '--within', '2d', '-o', 'csv')
  assert.equal(expiring.exitCode, 3)
  assert.ok(expiring.stdout.startsWith(`${header}\r\n`))
})
