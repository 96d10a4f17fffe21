import assert from 'node:assert/strict'
import { test } from 'node:test'
import { silentLog } from '../ports.ts'
import { inMemoryTransport, json, refusal } from '../testing/in-memory-transport.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { createClient } from './client.ts'
import { createEventRecorder } from './event-recorder.ts'
import type { ApiRequest, ApiResponse } from './transport.ts'
import type { KubeEvent, KubeNode } from './types.ts'

const node: KubeNode = { apiVersion: 'v1', kind: 'Node', metadata: { name: 'a', uid: 'u' } }

function setUp(
  answer: (request: ApiRequest) => ApiResponse = ({ body }) => json(200, parse(body)),
  log = silentLog,
) {
  const clock = createManualClock(Date.UTC(2026, 0, 1))
  const transport = inMemoryTransport(answer)
  const recorder = createEventRecorder({
    client: createClient(transport),
    clock,
    log,
    component: 'rollcall',
    host: 'h',
  })
  const sent = () => transport.requests.map(({ method, body }) => ({ method, event: parse(body) }))
  return { clock, transport, recorder, sent }
}

function parse(body: Uint8Array | undefined): KubeEvent {
  return JSON.parse(new TextDecoder().decode(body))
}

test('an event names its object, and lies in default when the object has no namespace', async () => {
  const { recorder, sent } = setUp()
  recorder.record(node, 'Warning', 'CertificateDenied', 'because')
  await recorder.flush()
  const { metadata, ...event } = sent()[0]?.event ?? assert.fail()
  assert.match(metadata.name, /^a\.[0-9a-f]+$/)
  assert.equal(metadata.namespace, 'default')
  assert.deepEqual(event, {
    apiVersion: 'v1',
    kind: 'Event',
    involvedObject: { apiVersion: 'v1', kind: 'Node', name: 'a', uid: 'u' },
    reason: 'CertificateDenied',
    message: 'because',
    type: 'Warning',
    count: 1,
    firstTimestamp: '2026-01-01T00:00:00Z',
    lastTimestamp: '2026-01-01T00:00:00Z',
    source: { component: 'rollcall', host: 'h' },
  })
})

test('the same again counts the first one up, another message or ten minutes later is a new one', async () => {
  const { clock, recorder, sent } = setUp()
  const record = async (message: string) => {
    recorder.record(node, 'Normal', 'R', message)
    await recorder.flush()
  }
  await record('x')
  await clock.advance(1_000)
  await record('x')
  await record('x')
  await record('y')
  await clock.advance(600_001)
  await record('x')
  assert.deepEqual(
    sent().map(({ method, event }) => [method, event.count]),
    [
      ['POST', 1],
      ['PATCH', 2],
      ['PATCH', 3],
      ['POST', 1],
      ['POST', 1],
    ],
  )
  const names = sent()
    .filter(({ method }) => method === 'POST')
    .map(({ event }) => event.metadata.name)
  assert.equal(new Set(names).size, 3)
})

test('an event that is gone meanwhile is created anew', async () => {
  const { recorder, sent } = setUp(({ method, body }) =>
    method === 'PATCH' ? refusal(404, 'NotFound') : json(200, parse(body)),
  )
  for (let n = 0; n < 2; n++) recorder.record(node, 'Normal', 'R', 'x')
  await recorder.flush()
  assert.deepEqual(
    sent().map(({ method }) => method),
    ['POST', 'PATCH', 'POST'],
  )
})

test('what the API does not take is dropped with a log line', async () => {
  const log = recordingLog()
  const { recorder } = setUp(() => refusal(403, 'Forbidden', 'no events for you'), log)
  recorder.record(node, 'Normal', 'R', 'x')
  await recorder.flush()
  assert.deepEqual(log.lines, ['warn: event dropped'])
  assert.match(JSON.stringify(log.fields), /no events for you/)
})

test('an API that takes none does not fill the memory', async () => {
  const log = recordingLog()
  const { recorder, sent } = setUp(undefined, log)
  for (let n = 0; n < 1_010; n++) recorder.record(node, 'Warning', 'R', String(n))
  assert.equal(log.lines.length, 10)
  await recorder.flush()
  assert.equal(sent().length, 1_000)
})

test('of very many Normal events at once some are left out, and that is said; no Warning is', async () => {
  const log = recordingLog()
  const { clock, recorder, sent } = setUp(undefined, log)
  for (let index = 0; index < 700; index++) recorder.record(node, 'Normal', 'R', `n${index}`)
  recorder.record(node, 'Warning', 'W', 'm')
  await recorder.flush()
  assert.equal(sent().length, 501)
  await clock.advance(1000)
  for (let index = 0; index < 20; index++) recorder.record(node, 'Normal', 'R', `later ${index}`)
  await recorder.flush()
  assert.equal(sent().length, 511)
  assert.deepEqual(log.fields.at(-1), { leftOut: 200 })
})
