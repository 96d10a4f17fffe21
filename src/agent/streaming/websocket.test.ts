import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { duplexPair } from 'node:stream'
import { describe, type TestContext, test } from 'node:test'
import { WebSocket } from 'ws'
import type { ContainerStreams } from '../../pods/runtime.ts'
import { acceptWebSocket } from './accept-websocket.ts'
import { ByteQueue } from './byte-queue.ts'
import { runCommand } from './run-command.ts'
import { websocketChannels } from './websocket-channels.ts'
import { forwardChannels, parsePorts } from './websocket-ports.ts'

/** A command that gives back what it is told, in capitals on stderr, and ends with its stdin. */
function echo(exitCode: number): ContainerStreams & { closed: Promise<void> } {
  const [stdout, stderr] = [new ByteQueue(1 << 20), new ByteQueue(1 << 20)]
  const ended = Promise.withResolvers<number>()
  const closed = Promise.withResolvers<void>()
  const end = () => {
    stdout.end()
    stderr.end()
    ended.resolve(exitCode)
  }
  return {
    stdin: {
      async write(bytes) {
        await stdout.push(bytes)
        await stderr.push(Buffer.from(Buffer.from(bytes).toString().toUpperCase()))
      },
      end,
    },
    stdout,
    stderr,
    exitCode: ended.promise,
    close() {
      closed.resolve()
      end()
    },
    closed: closed.promise,
  }
}

async function talk(t: TestContext, protocol: string, exitCode = 0) {
  const command = echo(exitCode)
  const server = createServer()
  server.on('upgrade', (request, connection, head) => {
    const { method = '', url = '', headers } = request
    const asked = { method, url, headers: headers as Record<string, string> }
    acceptWebSocket(asked, { connection, head, protocol }, socket => {
      const wanted = { stdin: true, stdout: true, stderr: true, tty: false }
      void runCommand(websocketChannels(socket, protocol, wanted), async () => command)
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  t.after(() => server.close())
  const { port } = server.address() as AddressInfo
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`, protocol)
  const messages: string[] = []
  socket.on('message', (data: Buffer) => messages.push(data.toString('latin1')))
  socket.on('error', () => {})
  await once(socket, 'open')
  const closed = once(socket, 'close')
  return { socket, messages, closed, command }
}

describe('ports over a WebSocket without SPDY', () => {
  /** Ports 1 to 9 are echoes, others are refused. */
  async function forward(t: TestContext, protocol: string, ports: number[]) {
    const server = createServer()
    server.on('upgrade', (request, connection, head) => {
      const { method = '', url = '', headers } = request
      const asked = { method, url, headers: headers as Record<string, string> }
      acceptWebSocket(asked, { connection, head, protocol }, socket => {
        void forwardChannels(socket, protocol, ports, async port => {
          if (port > 9) throw new Error(`nobody listens on ${port}`)
          const [near, far] = duplexPair()
          far.on('data', chunk => far.write(`${port}:${chunk}`))
          return near
        })
      })
    })
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    t.after(() => server.close())
    const { port } = server.address() as AddressInfo
    const socket = new WebSocket(`ws://127.0.0.1:${port}/`, protocol)
    const messages: string[] = []
    socket.on('message', (data: Buffer) => messages.push(data.toString('latin1')))
    await once(socket, 'open')
    return { socket, messages }
  }

  test('two channels a port, each with its number first, then data or why there is none', async t => {
    const { socket, messages } = await forward(t, 'v4.channel.k8s.io', [7, 258])
    socket.send(Buffer.from('\0ping'))
    socket.send(Buffer.from([9, 1, 2]))
    while (messages.length < 6) await once(socket, 'message')
    assert.deepEqual(messages.sort(), [
      '\x00\x07\x00',
      '\x007:ping',
      '\x01\x07\x00',
      '\x02\x02\x01',
      '\x03\x02\x01',
      '\x03nobody listens on 258',
    ])
    socket.terminate()
  })

  test('when all ports are refused the socket closes', async t => {
    const { socket } = await forward(t, 'v4.base64.channel.k8s.io', [10])
    const [code] = await once(socket, 'close')
    assert.equal(code, 1000)
  })

  test('ports are numbers, not too many', () => {
    assert.deepEqual(parsePorts(['80', '81,82']), [80, 81, 82])
    for (const values of [[], [''], ['0'], ['70000'], ['1e3'], ['80,'], [Array(20).fill('80').join(',')]])
      assert.equal(parsePorts(values), undefined)
  })
})

describe('a command over a WebSocket', () => {
  test('channels are the first byte; v5 ends stdin; the exit code comes as a Status', async t => {
    const { socket, messages, closed } = await talk(t, 'v5.channel.k8s.io', 3)
    assert.equal(socket.protocol, 'v5.channel.k8s.io')
    socket.send(Buffer.from('\0hello'))
    socket.send(Buffer.from([255, 0]))
    await closed
    const status = messages.find(message => message.startsWith('\x03'))?.slice(1) ?? ''
    assert.deepEqual(messages.filter(message => !message.startsWith('\x03')).sort(), [
      '\x01hello',
      '\x02HELLO',
    ])
    assert.deepEqual(JSON.parse(status), {
      metadata: {},
      status: 'Failure',
      message: 'command terminated with non-zero exit code: exit status 3',
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: '3' }] },
    })
  })

  test('base64 channels are a digit and text', async t => {
    const { socket, messages, closed, command } = await talk(t, 'v4.base64.channel.k8s.io')
    socket.send(`0${Buffer.from('hello').toString('base64')}`)
    while (messages.length < 2) await once(socket, 'message')
    command.stdin?.end()
    await closed
    assert.deepEqual(messages.slice(0, 2).sort(), [`1${btoa('hello')}`, `2${btoa('HELLO')}`])
    assert.equal(atob(messages[2]?.slice(1) ?? ''), '{"metadata":{},"status":"Success"}')
  })

  test('who leaves ends his command', async t => {
    const { socket, command } = await talk(t, 'v4.channel.k8s.io')
    socket.terminate()
    await command.closed
  })

  test('attack: a message of two megabytes closes the connection and ends the command', async t => {
    const { socket, closed, command } = await talk(t, 'v5.channel.k8s.io')
    socket.send(Buffer.alloc(2 << 20))
    const [code] = await closed
    assert.equal(code, 1009)
    await command.closed
  })

  test('attack: empty messages and channels that are not there change nothing', async t => {
    const { socket, messages, closed } = await talk(t, 'v5.channel.k8s.io')
    for (const message of [
      Buffer.alloc(0),
      Buffer.from([9, 1]),
      Buffer.from([4, 0x7b]),
      Buffer.from([255]),
      Buffer.from([255, 7]),
    ])
      socket.send(message)
    socket.send(Buffer.from('\0ok'))
    socket.send(Buffer.from([255, 0]))
    await closed
    assert.ok(messages.includes('\x01ok'))
  })
})
