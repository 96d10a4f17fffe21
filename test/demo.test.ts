import assert from 'node:assert/strict'
import { mkdirSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { clientOf } from '../src/cluster/demo/running-up.ts'
import { listAll } from '../src/kube/client.ts'
import { type CertificateSigningRequest, resources } from '../src/kube/types.ts'
import { parseCertificatesPem } from '../src/x509/certificate.ts'
import { commonNames } from '../src/x509/name.ts'
import { heldPairs } from './support/data-folder.ts'
import { openssl, opensslVerify } from './support/openssl.ts'
import { runRollcall, startRollcall, temporaryFolder } from './support/rollcall-process.ts'
import { upDuringTests } from './support/running-up.ts'

const up = upDuringTests()
const caFile = join(up.path, 'pki/ca.crt')

async function requests(): Promise<CertificateSigningRequest[]> {
  const { client, transport } = await clientOf(up.admin)
  try {
    const list = await listAll<CertificateSigningRequest>(client, resources.certificateSigningRequests)
    return list.items
  } finally {
    transport.closeConnections()
  }
}

const conditions = ({ status }: CertificateSigningRequest) =>
  status?.conditions?.map(({ type }) => type) ?? []

test('demo thief: three thefts are refused, each with its own reason, and nothing is issued', async () => {
  const before = new Set((await requests()).map(({ metadata }) => metadata.name))
  const { code, stdout, stderr } = await runRollcall(['demo', 'thief', '--dir', up.path])
  assert.equal(code, 0, stdout + stderr)
  const refusals = stdout.match(/^ {3}refused: .*$/gm) ?? []
  const reasons = [
    /ReservedName: .*10\.96\.0\.1/,
    /OwnedByOtherNode: .*127\.0\.1\.1.*worker-1/,
    /can only create a node CSR with CN=system:node:worker-3/,
  ]
  assert.equal(refusals.length, reasons.length, stdout)
  for (const [index, reason] of reasons.entries()) assert.match(refusals[index] ?? '', reason)
  assert.match(stdout, /\n3 of 3 refused\.\n$/)

  // The third was refused at the door of the API, so it left no request.
  const left = (await requests()).filter(({ metadata }) => !before.has(metadata.name))
  assert.equal(left.length, 2)
  for (const request of left) {
    assert.equal(request.spec.username, 'system:node:worker-3')
    assert.deepEqual(conditions(request), ['Denied'], request.metadata.name)
    assert.equal(request.status?.certificate, undefined)
  }
})

test('demo thief goes on telling why when it was denied so often that its next denials are held back', async () => {
  assert.equal((await runRollcall(['demo', 'thief', '--dir', up.path])).code, 0)
  const { code, stdout, stderr } = await runRollcall(['demo', 'thief', '--dir', up.path])
  assert.equal(code, 0, stdout + stderr)
  assert.match(stdout, /left without an answer: OwnedByOtherNode: .*so this denial waits too/)
  assert.match(stdout, /\n3 of 3 refused\.\n$/)
})

test('demo blackout: every certificate has really lapsed, and each node holds two good new ones when it ends', async () => {
  const before = heldPairs(up.path)
  const { code, stdout, stderr } = await runRollcall(['demo', 'blackout', '--dir', up.path])
  assert.equal(code, 0, stdout + stderr)
  assert.match(stdout, /6 certificates of 3 nodes have lapsed/)
  assert.match(stdout, /3\/3 client certificates are back, requested as system:bootstrap/)
  assert.match(stdout, /3\/3 nodes recovered/)

  const now = heldPairs(up.path)
  assert.equal(now.length, 6)
  const old = new Map(before.map(pair => [`${pair.node} ${pair.kind}`, pair]))
  for (const { node, kind, pem, path, certificate } of now) {
    const lapsed = (await pairsBeside(path)).filter(([, code]) => code !== 0)
    assert.equal(lapsed.length, 1, `${node} ${kind}: the lapsed pair is kept as the one before`)
    const inForce = await openssl(['x509', '-noout', '-checkend', '0'], pem)
    assert.equal(inForce.code, 0, inForce.output)
    const verified = await opensslVerify(pem, caFile, kind === 'kubelet-client' ? 'sslclient' : 'sslserver')
    assert.equal(verified.code, 0, `${node} ${kind}: ${verified.output}`)
    assert.deepEqual(commonNames(certificate.subject), [`system:node:${node}`])
    assert.notDeepEqual(certificate.spki, old.get(`${node} ${kind}`)?.certificate.spki, 'a new key')
  }
  const issued = (await requests()).flatMap(({ status }) =>
    parseCertificatesPem(Buffer.from(status?.certificate ?? '', 'base64').toString()),
  )
  const known = new Set(issued.map(({ raw }) => Buffer.from(raw).toString('hex')))
  for (const { certificate } of now) assert.ok(known.has(Buffer.from(certificate.raw).toString('hex')))
})

/** Each pair of the kind in the folder of `current`, with the exit code of `openssl x509 -checkend 0`: 1 when it has lapsed. */
async function pairsBeside(current: string): Promise<[string, number | null][]> {
  const directory = dirname(current)
  const kind = current.slice(directory.length + 1).replace('-current.pem', '')
  const files = readdirSync(directory).filter(name => name.startsWith(`${kind}-2`))
  return Promise.all(
    files.map(async (name): Promise<[string, number | null]> => {
      const pem = readFileSync(join(directory, name), 'utf8')
      return [name, (await openssl(['x509', '-noout', '-checkend', '0'], pem)).code]
    }),
  )
}

test('demos take the nodes that run now: not those of an earlier, larger fleet, and also one that holds nothing', {
  timeout: 120_000,
}, async () => {
  const smaller = temporaryFolder()
  const start = (nodes: string) =>
    startRollcall(['up', '--nodes', nodes, '--dir', smaller.path, '--port', '0'])
  const two = start('2')
  await two.ready
  assert.equal(await two.stop(), 0)
  const one = start('1')
  try {
    await one.ready
    const thief = await runRollcall(['demo', 'thief', '--dir', smaller.path])
    assert.deepEqual([thief.code, thief.stdout], [2, ''])
    assert.match(thief.stderr, /^rollcall: The thief needs another node[^\n]+\n$/)
    rmSync(join(smaller.path, 'nodes/worker-1/pki'), { recursive: true })
    const blackout = await runRollcall(['demo', 'blackout', '--dir', smaller.path])
    assert.equal(blackout.code, 0, blackout.stderr)
    assert.match(blackout.stdout, /1\/1 nodes recovered/)
  } finally {
    await one.stop()
    smaller.remove()
  }
})

test('without a running up each demo is refused with one sentence and exit code 2, and leaves nothing', async () => {
  const nowhere = join(up.path, 'nowhere')
  const empty = join(up.path, 'empty')
  mkdirSync(empty)
  for (const demo of ['thief', 'blackout']) {
    for (const directory of [nowhere, empty]) {
      const { code, stdout, stderr } = await runRollcall(['demo', demo, '--dir', directory])
      assert.equal(code, 2)
      assert.equal(stdout, '')
      assert.match(stderr, /^rollcall: No 'rollcall up' runs with --dir [^\n]+\n$/)
    }
  }
  assert.ok(!readdirSync(up.path).includes('nowhere'))
  assert.deepEqual(readdirSync(empty), [])
})
