import assert from 'node:assert/strict'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { fetchText } from '../../host/fetch-text.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { createSimulatedNode } from '../testing/simulated-node.ts'
import { type FetchText, ManifestUrl } from './manifest-url.ts'

const pod = (name: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name },
  spec: { hostNetwork: true, containers: [{ name: 'c', image: 'host', command: ['x'] }] },
})
const list = (...names: string[]) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'PodList', items: names.map(pod) })
const url = 'https://192.0.2.1/pods'

test('pods of a URL run beside those of the folder; no answer keeps them, also across agents, and an empty one ends them', async () => {
  const clock = createManualClock(Date.parse('2026-05-01T00:00:00Z'))
  const node = await createSimulatedNode(clock)
  let answer: () => Promise<{ status: number; text: string }> = async () => ({
    status: 200,
    text: list('a', 'b'),
  })
  const agent = () => node.another({ urls: [url], fetchText: () => answer() })
  const running = () =>
    node.runtime
      .containers()
      .filter(({ state }) => state === 'Running')
      .map(({ podKey }) => podKey.replace('default/', '').replace('-node-a', ''))
      .toSorted()
  await node.write('web')
  const first = agent()
  first.start()
  await node.pass(1)
  assert.deepEqual(running(), ['a', 'b', 'web'])
  assert.equal(
    first.views().find(({ pod }) => pod.metadata.name === 'a-node-a')?.pod.metadata.annotations[
      'kubernetes.io/config.source'
    ],
    'http',
  )
  answer = async () => ({ status: 503, text: 'later' })
  await node.pass(21)
  assert.deepEqual(running(), ['a', 'b', 'web'])
  assert.match(JSON.stringify(first.findings()), /answers with status 503/)
  await first.stop()

  answer = () => Promise.reject(new Error('no route'))
  const second = agent()
  second.start()
  await node.pass(30)
  assert.deepEqual(running(), ['a', 'b', 'web'])
  answer = async () => ({ status: 200, text: list('b') })
  await node.pass(21)
  assert.deepEqual(running(), ['b', 'web'])
  answer = async () => ({ status: 200, text: ' ' })
  await node.pass(21)
  assert.deepEqual(running(), ['web'])
  await second.stop()
  assert.equal(clock.pending(), 0)
})

test('a URL that does not answer is given up after ten seconds, and asked again', async () => {
  const clock = createManualClock(0)
  const said: string[] = []
  let asked = 0
  const silent: FetchText = (_, __, signal) => {
    asked++
    return new Promise((_, reject) => signal.addEventListener('abort', () => reject(new Error('aborted'))))
  }
  const source = new ManifestUrl({
    url,
    fetchText: silent,
    clock,
    onReading: ({ problem }) => said.push(problem?.message ?? ''),
  })
  source.start()
  await clock.advance(10_000)
  await settle()
  assert.deepEqual(said, ['cannot be fetched (no answer within 10 s)'])
  await clock.advance(20_000)
  assert.equal(asked, 2)
  await source.stop()
  assert.equal(clock.pending(), 0)
})

test('attack: neither an endless answer is read to its end nor a redirect followed', async t => {
  const server = createServer((request, response) => {
    if (request.url === '/else') return response.writeHead(302, { location: '/pods' }).end()
    response.on('error', () => {})
    const more = () => {
      while (response.write('x'.repeat(65_536)));
      response.once('drain', more)
    }
    more()
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => {
    server.closeAllConnections()
    server.close()
  })
  const at = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const { signal } = new AbortController()
  await assert.rejects(fetchText(`${at}/pods`, 2 ** 20, signal), /more than 1048576 bytes/)
  assert.equal((await fetchText(`${at}/else`, 2 ** 20, signal)).status, 302)
})
