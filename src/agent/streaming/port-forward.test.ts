import assert from 'node:assert/strict'
import { duplexPair } from 'node:stream'
import { test } from 'node:test'
import { forwardPorts } from './port-forward.ts'
import { controlFrame, frameTypes, resetCodes, words } from './spdy/frames.ts'
import { isEnd, spdyClient } from './testing/spdy-client.ts'

const nothing = new Uint8Array()

test('a connection goes both ways, and ends with either side', async () => {
  const client = spdyClient()
  const asked: number[] = []
  const over = forwardPorts(client.server, nothing, async port => {
    asked.push(port)
    const [near, far] = duplexPair()
    far.on('data', chunk => far.write(`<${chunk}>`))
    far.on('end', () => far.end())
    return near
  })
  await client.open(1, { streamtype: 'error', port: '8080', requestid: '0' })
  await client.open(3, { streamtype: 'data', port: '8080', requestid: '0' })
  client.data(3, 'ping', true)
  await client.until(isEnd(3))
  await client.until(isEnd(1))
  assert.deepEqual([client.text(3), client.text(1), asked], ['<ping>', '', [8080]])
  client.end()
  await over
})

test('a port that cannot be reached, or is none, is told on the error stream', async () => {
  const client = spdyClient()
  const over = forwardPorts(client.server, nothing, () => Promise.reject(new Error('connection refused')))
  await client.open(1, { streamtype: 'error', port: '1', requestid: '0' })
  await client.open(3, { streamtype: 'data', port: '1', requestid: '0' })
  await client.until(isEnd(1))
  await client.open(5, { streamtype: 'error', port: '../x', requestid: '1' })
  await client.open(7, { streamtype: 'data', port: '../x', requestid: '1' })
  await client.until(isEnd(5))
  assert.deepEqual(
    [client.text(1), client.text(5)],
    ['connection refused', 'unable to parse port "../x" as a uint16'],
  )
  client.end()
  await over
})

/** Nobody is behind any port; how often one was tried. */
function closedPorts() {
  const tried: number[] = []
  const open = (port: number) => {
    tried.push(port)
    return Promise.reject(new Error('refused'))
  }
  return { tried, open }
}

test('attack: a data stream without its error stream reaches nobody', async () => {
  const client = spdyClient()
  const { tried, open } = closedPorts()
  const over = forwardPorts(client.server, nothing, open)
  await client.open(1, { streamtype: 'data', port: '22', requestid: '0' })
  await client.until(isEnd(1))
  assert.deepEqual(tried, [])
  client.end()
  await over
})

test('attack: error streams that are opened and reset without end are forgotten', async () => {
  const client = spdyClient()
  const { tried, open } = closedPorts()
  const over = forwardPorts(client.server, nothing, open)
  let id = 1
  for (; id < 2 * 600; id += 2) {
    await client.open(id, { streamtype: 'error', port: '1', requestid: `${id}` })
    client.send(controlFrame(frameTypes.rstStream, 0, words(id, resetCodes.cancel)))
  }
  await client.open(id, { streamtype: 'data', port: '1', requestid: '1' })
  await client.until(isEnd(id))
  assert.deepEqual(tried, [])
  client.end()
  await over
})
