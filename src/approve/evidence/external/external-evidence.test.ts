import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemSpawn } from '../../../host/spawn.ts'
import { ip } from '../../../testing/judged-request.ts'
import { createManualClock } from '../../../testing/manual-clock.ts'
import type { RequestedSan } from '../../requested-sans.ts'
import { execSource } from './exec-source.ts'
import { ExternalEvidence, freshFor } from './external-evidence.ts'
import type { EvidenceSource } from './source.ts'
import { webhookSource } from './webhook-source.ts'

const san = (address: string): RequestedSan => ({
  kind: 'IP',
  shown: `IP ${address}`,
  canonical: address,
  bytes: ip(address),
})
const asked = [san('10.0.0.1'), san('10.0.0.2')]
const json = (value: unknown) => Buffer.from(JSON.stringify(value))

/** A source that is asked under a clock that stands still. */
function sourceOf(ask: EvidenceSource['ask'], timeout = 5_000) {
  const clock = createManualClock(0)
  const evidence = new ExternalEvidence({ name: 'cmdb', timeout, ask }, clock)
  const said = async (node: string) => {
    await evidence.refresh(node, node)
    const answer = evidence.evidence(node, asked)
    return 'proven' in answer ? [...answer.proven.keys()] : answer
  }
  return { clock, evidence, said }
}

test('what a source says proves names, and tells who holds them; an answer counts for half a minute', async () => {
  let questions = 0
  const { clock, evidence, said } = sourceOf(async node => {
    questions++
    return node === 'a' ? json({ addresses: ['10.0.0.1/24'], attributes: { rack: 'x' } }) : undefined
  })
  assert.deepEqual(evidence.evidence('a', asked), { error: 'was not asked yet' })
  assert.deepEqual(await said('a'), ['10.0.0.1'])
  assert.deepEqual(await said('b'), [])
  assert.deepEqual(evidence.holders('10.0.0.1'), ['a'])
  assert.deepEqual(evidence.attributes('a'), { rack: 'x' })
  await said('a')
  assert.equal(questions, 2)
  await clock.advance(freshFor)
  assert.deepEqual(evidence.evidence('a', asked), { error: 'was not asked yet' })
  await said('a')
  assert.equal(questions, 3)
})

test('an address that went from one node to another is not held by the first one for ever', async () => {
  const owners: Record<string, string> = { a: '10.0.0.1' }
  const { clock, evidence, said } = sourceOf(async node =>
    owners[node] === undefined ? undefined : json({ addresses: [owners[node]] }),
  )
  await said('a')
  delete owners.a
  owners.b = '10.0.0.1'
  await clock.advance(freshFor)
  assert.deepEqual(await said('b'), ['10.0.0.1'])
  assert.deepEqual(evidence.holders('10.0.0.1'), ['b'])
})

test('a source that fails, is late, or talks nonsense is an error, never an empty answer; what it said before is gone', async () => {
  let answer: () => Promise<Uint8Array | undefined> = async () => json({ addresses: ['10.0.0.1'] })
  const { clock, evidence, said } = sourceOf(() => answer())
  assert.deepEqual(await said('a'), ['10.0.0.1'])
  const failures: [typeof answer, RegExp][] = [
    [() => Promise.reject(new Error('refused')), /cannot be asked: refused/],
    [async () => Buffer.from('<html>'), /malformed: .*no JSON/],
    [async () => json({ adresses: [] }), /malformed: .*unknown field "adresses"/],
    [async () => json({ addresses: 'all' }), /malformed/],
  ]
  for (const [fails, told] of failures) {
    await clock.advance(freshFor)
    answer = fails
    const found = await said('a')
    assert.match('error' in found ? found.error : '', told)
    assert.deepEqual(evidence.holders('10.0.0.1'), [])
  }
  await clock.advance(freshFor)
  answer = () => new Promise(() => {})
  const late = said('a')
  await clock.advance(5_000)
  assert.deepEqual(await late, { error: 'cannot be asked: it did not answer within 5 s' })
})

test('a source is asked about four nodes at a time, and about each once', async () => {
  const open: (() => void)[] = []
  const { evidence } = sourceOf(() => new Promise(resolve => open.push(() => resolve(undefined))))
  const all = Promise.all([...'abcdefgh', ...'abcdefgh'].map(node => evidence.refresh(node, node)))
  await Promise.resolve()
  assert.equal(open.length, 4)
  for (let count = 0; count < 8; count++) {
    open.shift()?.()
    await new Promise(resolve => setImmediate(resolve))
  }
  await all
  assert.equal(open.length, 0)
})

test('a program gets the name as its last argument; 3 is an unknown node, other codes are errors without its words', async () => {
  const script = `case $2 in a) echo '{"addresses":["10.0.0.1"]}';; b) exit 3;; c) head -c 70000 /dev/zero;; *) echo "$SECRET" >&2; exit 7;; esac`
  const source = execSource({
    name: 'racks',
    timeout: 5_000,
    command: '/bin/sh',
    args: ['-c', script, 'racks', '--'].slice(0, 3).concat('--json'),
    environment: { SECRET: 'hunter2', PATH: '/usr/bin:/bin' },
    spawn: systemSpawn,
  })
  const { signal } = new AbortController()
  assert.deepEqual(JSON.parse(Buffer.from((await source.ask('a', signal)) ?? '').toString()), {
    addresses: ['10.0.0.1'],
  })
  assert.equal(await source.ask('b', signal), undefined)
  await assert.rejects(source.ask('c', signal), /longer than 65536 bytes/)
  await assert.rejects(
    source.ask('d', signal),
    error => /exit code 7/.test(String(error)) && !/hunter2/.test(String(error)),
  )
})

test('a webhook is asked with the name in its query; 404 is an unknown node, more than 64 KiB an error', async () => {
  const urls: string[] = []
  const answers = [
    { status: 200, body: json({ addresses: ['10.0.0.1'] }) },
    { status: 404, body: json({}) },
    { status: 500, body: json({}) },
    { status: 200, body: Buffer.alloc(70_000) },
  ]
  const source = webhookSource({
    name: 'cmdb',
    timeout: 5_000,
    url: 'https://cmdb.example/nodes?site=x',
    transport: {
      async request({ url }) {
        urls.push(url)
        return { headers: {}, status: 500, body: new Uint8Array(), ...answers.shift() }
      },
      closeConnections() {},
    },
  })
  const { signal } = new AbortController()
  assert.equal((await source.ask('a', signal))?.length, 26)
  assert.equal(await source.ask('a', signal), undefined)
  await assert.rejects(source.ask('a', signal), /HTTP 500/)
  await assert.rejects(source.ask('a', signal), /longer than 65536 bytes/)
  assert.equal(urls[0], '/nodes?site=x&node=a')
})
