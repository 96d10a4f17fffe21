import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { deflateSync } from 'node:zlib'
import fc from 'fast-check'
import { settle } from '../../../testing/manual-clock.ts'
import { isEnd, isReply, isReset, spdyClient } from '../testing/spdy-client.ts'
import { controlFrame, dataFrame, FrameReader, frameTypes, words } from './frames.ts'
import { headerDictionary } from './header-dictionary.ts'
import { type SpdyStream, serveSpdy } from './session.ts'

const nothing = new Uint8Array()

/** A server that gives back, stream by stream, what it is told. */
function echoing() {
  const client = spdyClient()
  const streams: SpdyStream[] = []
  const session = serveSpdy(client.server, nothing, stream => {
    streams.push(stream)
    void (async () => {
      for await (const chunk of stream.received) await stream.write(chunk)
      await stream.end()
    })()
  })
  return { client, streams, session }
}

describe('the server of SPDY/3.1', () => {
  test('accepts streams, reads their headers in any number, and ends each with its other side', async () => {
    const { client, streams, session } = echoing()
    await client.open(1, { streamtype: 'data', port: '80' })
    await client.open(3, { streamtype: 'error', port: '80' })
    client.data(1, 'hel')
    client.data(1, 'lo', true)
    await client.until(isEnd(1))
    assert.equal(client.text(1), 'hello')
    assert.deepEqual(
      streams.map(({ headers }) => headers),
      [
        { streamtype: 'data', port: '80' },
        { streamtype: 'error', port: '80' },
      ],
    )
    await client.until(isReply(3))
    client.end()
    await session.ended
  })

  test('frames are read alike however they are cut', () => {
    const bytes = Buffer.concat([
      controlFrame(frameTypes.ping, 0, words(1)),
      dataFrame(1, Buffer.from('some text'), false),
      dataFrame(3, nothing, true),
      controlFrame(frameTypes.rstStream, 0, words(1, 5)),
    ])
    const read = (chunks: Uint8Array[]) => {
      const reader = new FrameReader()
      const merged = new Map<string, string>()
      for (const chunk of chunks) {
        for (const frame of reader.read(chunk)) {
          const key = frame.kind === 'data' ? `data ${frame.stream}` : `control ${frame.type}`
          const text = `${Buffer.from(frame.payload)}${frame.kind === 'data' && frame.fin ? '.' : ''}`
          merged.set(key, `${merged.get(key) ?? ''}${text}`)
        }
      }
      return [...merged]
    }
    const whole = read([bytes])
    fc.assert(
      fc.property(fc.array(fc.nat(bytes.length), { maxLength: 12 }), cuts => {
        const at = [0, ...cuts.sort((a, b) => a - b), bytes.length]
        const chunks = at.slice(1).map((end, index) => bytes.subarray(at[index], end))
        assert.deepEqual(read(chunks), whole)
      }),
    )
  })

  test('a ping is answered, and only one of the client', async () => {
    const { client, session } = echoing()
    client.send(controlFrame(frameTypes.ping, 0, words(2)))
    client.send(controlFrame(frameTypes.ping, 0, words(7)))
    await client.until(({ kind }) => kind === 'control')
    assert.deepEqual(client.frames, [{ kind: 'control', type: frameTypes.ping, flags: 0, payload: words(7) }])
    client.end()
    await session.ended
  })

  test('attack: one stream too many is refused, and those that are open go on', async () => {
    const { client, session } = echoing()
    for (let id = 1; id <= 1025; id += 2) await client.open(id, {})
    await client.until(isReset(1025))
    client.data(1, 'still here', true)
    await client.until(isEnd(1))
    assert.equal(client.text(1), 'still here')
    client.end()
    await session.ended
  })

  const hostile: [string, Uint8Array][] = [
    ['what is no SPDY', Buffer.from('\x80GET / HTTP/1.1\r\n\r\n')],
    ['a control frame of 16 MiB', Buffer.from([0x80, 3, 0, 1, 0, 0xff, 0xff, 0xff])],
    ['headers that are no zlib', controlFrame(frameTypes.synStream, 0, Buffer.alloc(30, 0x41))],
    [
      'headers that unpack to 32 MiB',
      controlFrame(
        frameTypes.synStream,
        0,
        Buffer.concat([
          words(1, 0),
          Buffer.alloc(2),
          deflateSync(Buffer.alloc(32 << 20), { dictionary: headerDictionary }),
        ]),
      ),
    ],
    [
      'a count of headers that are not there',
      controlFrame(
        frameTypes.synStream,
        0,
        Buffer.concat([
          words(1, 0),
          Buffer.alloc(2),
          deflateSync(words(0x7fffffff), { dictionary: headerDictionary }),
        ]),
      ),
    ],
    ['a frame that ends before its fields', controlFrame(frameTypes.ping, 0, nothing)],
  ]
  for (const [what, bytes] of hostile) {
    test(`attack: ${what} ends the session`, async () => {
      const { client, session } = echoing()
      client.send(bytes)
      await session.ended
      await client.closed
    })
  }

  test('attack: a number that was used already ends the session', async () => {
    const { client, session } = echoing()
    await client.open(3, {})
    await client.open(1, {})
    await session.ended
  })

  test('attack: who floods a stream that nobody reads is read no further', async () => {
    const client = spdyClient()
    const session = serveSpdy(client.server, nothing, () => {})
    await client.open(1, {})
    let taken = 0
    const chunk = Buffer.alloc(64 * 1024)
    for (let frame = 0; frame < 128; frame++)
      client.client.write(dataFrame(1, chunk, false), () => {
        taken += chunk.length
      })
    await client.until(isReply(1))
    for (let turn = 0; turn < 200; turn++) await settle()
    assert.ok(taken >= 256 * 1024 && taken < 1 << 20, `${taken} bytes of 8 MiB were taken`)
    client.client.destroy()
    client.server.destroy()
    await session.ended
  })

  test('attack: anything at all neither throws nor hangs', async () => {
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 200 }), async bytes => {
        const { client, session } = echoing()
        client.send(Buffer.concat([Buffer.from([0x80, 3, 0]), bytes]))
        client.end()
        await session.ended
      }),
      { numRuns: 100 },
    )
  })
})
