import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { Secret } from '../../keys/secret.ts'
import type { ApiRequest, ApiResponse } from '../../kube/transport.ts'
import { EventDigest } from './digest.ts'
import { Machine } from './machine.ts'
import { Network, type NetworkFaults, noNetworkFaults } from './network.ts'
import { SeededRandom } from './random.ts'
import { VirtualTime } from './virtual-time.ts'

const config = { server: 'https://10.0.0.1:6443', insecureSkipTlsVerify: true }
const get = (url: string): ApiRequest => ({ method: 'GET', url, headers: {} })
const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes)
const bytes = (value: string) => new TextEncoder().encode(value)

function createWorld(seed: string, handle: (request: ApiRequest) => ApiResponse | Promise<ApiResponse>) {
  const time = new VirtualTime(0)
  const surroundings = { time, digest: new EventDigest() }
  const random = new SeededRandom(seed)
  const network = new Network(time, random.stream('network'))
  const server = new Machine('server', surroundings, random.stream('server'))
  const client = new Machine('client', surroundings, random.stream('client'))
  const listen = () =>
    network.listen('10.0.0.1:6443', {
      process: server.start(),
      certificate: () => '',
      handle: async request => handle(request),
    })
  listen()
  return { time, network, server, client, listen, transport: network.connectFrom(client.start())(config) }
}

const ok = (body: string): ApiResponse => ({ status: 200, headers: {}, body: bytes(body) })

async function outcomeOf(time: VirtualTime, answer: Promise<ApiResponse>, wait = 200_000): Promise<string> {
  let outcome = 'nothing'
  answer.then(
    response => {
      outcome = response.body instanceof Uint8Array ? text(response.body) : 'stream'
    },
    error => {
      outcome = hasCode(error, 'API_UNREACHABLE') ? error.message : `wrong error ${error}`
    },
  )
  await time.runFor(wait)
  return outcome
}

test('a request is answered after some milliseconds, with the credential in its header', async () => {
  const { time, network, client } = createWorld('1', ({ url, headers }) =>
    ok(`${url} ${headers.authorization}`),
  )
  const connect = network.connectFrom(client.process ?? client.start())
  const transport = connect({ ...config, bearerToken: new Secret('t') })
  const answer = transport.request(get('/readyz'))
  assert.equal(await outcomeOf(time, answer, 100), '/readyz Bearer t')
})

test('nobody listens, or the server ends while it works: the client learns that there is no answer', async () => {
  const world = createWorld('2', () => new Promise(() => {}))
  const answer = world.transport.request(get('/'))
  await world.time.runFor(50)
  world.server.kill()
  assert.match(await outcomeOf(world.time, answer, 50), /reset by a server that ended/)
  assert.match(await outcomeOf(world.time, world.transport.request(get('/')), 50), /connection refused/)
  world.listen()
  assert.match(await outcomeOf(world.time, world.transport.request(get('/')), 100_000), /no answer in time/)
})

test('each fault happens to some requests and leaves its mark at the server', async () => {
  const outcomesWith = async (faults: Partial<NetworkFaults>) => {
    const seen = new Set<string>()
    for (let seed = 0; seed < 20; seed += 1) {
      let handled = 0
      const world = createWorld(String(seed), () => ok(`answer ${++handled}`))
      world.network.faults = { ...noNetworkFaults, ...faults }
      const outcome = await outcomeOf(world.time, world.transport.request(get('/')))
      seen.add(`${outcome.replace(/^.*6443: /, '')}, handled ${handled}`)
    }
    return [...seen].sort()
  }
  assert.deepEqual(await outcomesWith({ lostRequest: 0.5 }), [
    'answer 1, handled 1',
    'connection reset before the request arrived, handled 0',
  ])
  assert.deepEqual(await outcomesWith({ lostAnswer: 0.5 }), [
    'answer 1, handled 1',
    'connection reset before the answer arrived, handled 1',
  ])
  assert.deepEqual(await outcomesWith({ duplicated: 0.5 }), ['answer 1, handled 1', 'answer 1, handled 2'])
})

/** A stream of the server's that the test feeds. */
function fedStream() {
  const waiting: ((result: IteratorResult<Uint8Array>) => void)[] = []
  let returned = false
  return {
    send: (chunk: string) => waiting.shift()?.({ done: false, value: bytes(chunk) }),
    end: () => waiting.shift()?.({ done: true, value: undefined }),
    get returned() {
      return returned
    },
    body: {
      [Symbol.asyncIterator]: () => ({
        next: () => new Promise<IteratorResult<Uint8Array>>(resolve => waiting.push(resolve)),
        return: async () => {
          returned = true
          return { done: true as const, value: undefined }
        },
      }),
    },
  }
}

async function openStream(seed: string) {
  const stream = fedStream()
  const world = createWorld(seed, () => ({ status: 200, headers: {}, body: stream.body }))
  const abort = new AbortController()
  const answer = world.transport.request({ ...get('/?watch=true'), signal: abort.signal })
  await world.time.runFor(100)
  const seen: string[] = []
  const read = async () => {
    const { body } = await answer
    assert.ok(!(body instanceof Uint8Array))
    for await (const chunk of body) seen.push(text(chunk))
    seen.push('end')
  }
  read().catch(error => seen.push(hasCode(error, 'API_UNREACHABLE') ? 'broken' : `wrong error ${error}`))
  await world.time.runFor(1)
  return { ...world, stream, abort, seen }
}

test('a stream arrives in order and ends; a break is an error, an abort an end that the server learns of', async () => {
  const ended = await openStream('3')
  for (const chunk of ['a', 'b', 'c']) {
    ended.stream.send(chunk)
    await ended.time.runFor(1)
  }
  ended.stream.end()
  await ended.time.runFor(100)
  assert.deepEqual(ended.seen, ['a', 'b', 'c', 'end'])

  const broken = await openStream('4')
  broken.server.kill()
  await broken.time.runFor(1)
  assert.deepEqual(broken.seen, ['broken'])

  const aborted = await openStream('5')
  aborted.abort.abort()
  await aborted.time.runFor(1)
  assert.deepEqual(aborted.seen, ['end'])
  assert.equal(aborted.stream.returned, true)

  const closed = await openStream('6')
  closed.transport.closeConnections()
  await closed.time.runFor(1)
  assert.deepEqual(closed.seen, ['broken'])
  assert.equal(closed.stream.returned, true)
})

test('a partition is silent: chunks arrive after it when it is short, the server gives up when it is long', async () => {
  const short = await openStream('7')
  short.client.partitioned = true
  short.stream.send('late')
  await short.time.runFor(60_000)
  assert.deepEqual(short.seen, [])
  assert.match(await outcomeOf(short.time, short.transport.request(get('/')), 40_000), /connect timed out/)
  short.client.partitioned = false
  await short.time.runFor(60_000)
  assert.deepEqual(short.seen, ['late'])

  const long = await openStream('8')
  long.client.partitioned = true
  long.stream.send('late')
  await long.time.runFor(20 * 60_000)
  assert.deepEqual(long.seen, [])
  assert.equal(long.stream.returned, true)
})

test('a dead client learns nothing, and the server learns that it is gone', async () => {
  const world = await openStream('9')
  world.client.kill()
  await world.time.runFor(1000)
  assert.deepEqual(world.seen, [])
  assert.equal(world.stream.returned, true)
})
