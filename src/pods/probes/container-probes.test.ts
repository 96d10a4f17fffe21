import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Net } from '../../ports.ts'
import { createManualClock, type ManualClock } from '../../testing/manual-clock.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import type { Container } from '../pod.ts'
import { ContainerProbes } from './container-probes.ts'

let clock: ManualClock
let probes: ContainerProbes
/** Answers of the probes by path; `hang` never answers. */
let answers: Record<string, number | 'hang'>
let asked: string[]
let verdicts: number

const net: Net = {
  http: ({ url, signal }) => {
    asked.push(`${clock.monotonic() / 1000} ${url}`)
    const answer = answers[new URL(url).pathname] ?? 404
    if (answer !== 'hang') return Promise.resolve({ status: answer, body: '' })
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  },
  connect: () => Promise.reject(new Error('refused')),
}
const httpGet = (path: string) => ({ httpGet: { path, port: 'web' } })

function start(changes: Partial<Container>, adopted = false) {
  probes = new ContainerProbes({
    container: { name: 'c', image: 'host', ports: [{ name: 'web', containerPort: 8080 }], ...changes },
    address: '::1',
    net,
    exec: async () => 1,
    clock,
    random: seededRandom(1),
    adopted,
    onVerdict: () => verdicts++,
  })
  probes.start()
}

/** A test with its own clock; no timer may be left. (Hooks of node:test would run for every file of the process.) */
function onClock(name: string, run: () => void | Promise<void>): void {
  test(name, async () => {
    clock = createManualClock(0)
    answers = {}
    asked = []
    verdicts = 0
    try {
      await run()
    } finally {
      await probes.stop()
    }
    assert.equal(clock.pending(), 0, 'timers are left')
  })
}

onClock('without probes a container is started and ready', () => {
  start({})
  assert.deepEqual([probes.started, probes.ready, probes.failed], [true, true, undefined])
})

onClock('readiness: no, until it says yes; no again after three failures in a row', async () => {
  start({ readinessProbe: { ...httpGet('/ready'), initialDelaySeconds: 2 } })
  await clock.advance(1999)
  assert.deepEqual([probes.ready, asked], [false, []])
  answers['/ready'] = 399
  await clock.advance(1)
  assert.deepEqual([probes.ready, asked], [true, ['2 http://[::1]:8080/ready']])
  answers['/ready'] = 400
  await clock.advance(29_999)
  assert.equal(probes.ready, true, 'two failures are not three')
  await clock.advance(1)
  assert.deepEqual([probes.ready, probes.failed], [false, undefined])
})

onClock(
  'liveness: alive until three failures in a row, a hanging answer counts as one after the timeout',
  async () => {
    answers['/live'] = 'hang'
    start({ livenessProbe: { ...httpGet('/live'), timeoutSeconds: 3, periodSeconds: 5 } })
    await clock.advance(3 + 8000 + 8000 + 2990)
    assert.equal(probes.failed, undefined)
    await clock.advance(20)
    assert.equal(probes.failed, 'livenessProbe')
    const count = asked.length
    await clock.advance(60_000)
    assert.equal(asked.length, count, 'the verdict stands: nothing is asked any more')
  },
)

onClock(
  'liveness and readiness begin when the startup probe has succeeded, and never when it has failed',
  async () => {
    const both = {
      livenessProbe: httpGet('/live'),
      startupProbe: { ...httpGet('/start'), failureThreshold: 2 },
    }
    start(both)
    await clock.advance(1000)
    assert.deepEqual([probes.started, probes.ready], [false, false])
    answers = { '/start': 200, '/live': 200 }
    await clock.advance(9000)
    assert.deepEqual([probes.started, probes.ready, verdicts], [true, true, 1])
    await probes.stop()
    answers = { '/live': 200 }
    asked = []
    start(both)
    await clock.advance(60_000)
    assert.equal(probes.failed, 'startupProbe')
    assert.ok(asked.every(line => line.endsWith('/start')))
  },
)

onClock(
  'the first probe of a container that was taken over comes after a random part of its period',
  async () => {
    start({ readinessProbe: httpGet('/ready') }, true)
    await clock.advance(0)
    assert.deepEqual(asked, [])
    await clock.advance(10_000)
    assert.equal(asked.length, 1)
  },
)

onClock('exec says yes with exit code 0 only, tcpSocket when a connection opens', async () => {
  start({
    readinessProbe: { exec: { command: ['false'] } },
    livenessProbe: { tcpSocket: { port: 1 }, failureThreshold: 1 },
  })
  await clock.advance(0)
  assert.deepEqual([probes.ready, probes.failed], [false, 'livenessProbe'])
})
