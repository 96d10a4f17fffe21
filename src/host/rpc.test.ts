import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { promisify } from 'node:util'
import { Server, ServerCredentials, type ServerWritableStream, status } from '@grpc/grpc-js'
import { systemRpc } from './rpc.ts'

type Call = ServerWritableStream<Uint8Array, Uint8Array>

/** A gRPC server on a unix socket whose one method answers with a stream. */
async function streaming(answer: (call: Call) => void, live: (endpoint: string) => Promise<void>) {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-rpc-'))
  const endpoint = `unix://${folder}/s.sock`
  const server = new Server()
  const same = (bytes: Uint8Array) => Buffer.from(bytes)
  const method = { path: '/test.Test/Events', requestStream: false, responseStream: true }
  const codec = {
    requestSerialize: same,
    requestDeserialize: same,
    responseSerialize: same,
    responseDeserialize: same,
  }
  server.addService({ Events: { ...method, ...codec } }, { Events: answer })
  try {
    await promisify(server.bindAsync.bind(server))(endpoint, ServerCredentials.createInsecure())
    await live(endpoint)
  } finally {
    server.forceShutdown()
    rmSync(folder, { recursive: true, force: true })
  }
}

test('a stream gives each message as it comes, and ends with the other side', () =>
  streaming(
    call => {
      call.write(Buffer.from('one'))
      call.write(Buffer.from('two'))
      call.end()
    },
    async endpoint => {
      const rpc = await systemRpc(endpoint)
      const said: string[] = []
      for await (const bytes of rpc.stream(
        '/test.Test/Events',
        new Uint8Array(),
        new AbortController().signal,
      ))
        said.push(Buffer.from(bytes).toString())
      assert.deepEqual(said, ['one', 'two'])
      const unknown = rpc.stream('/test.Test/Other', new Uint8Array(), new AbortController().signal)
      await assert.rejects(unknown[Symbol.asyncIterator]().next(), { code: status.UNIMPLEMENTED })
      rpc.close()
    },
  ))

test('a stream that is aborted ends on both sides', () => {
  const left = Promise.withResolvers<void>()
  return streaming(
    call => {
      call.on('cancelled', () => left.resolve())
      call.write(Buffer.from('one'))
    },
    async endpoint => {
      const rpc = await systemRpc(endpoint)
      const abort = new AbortController()
      const stream = rpc.stream('/test.Test/Events', new Uint8Array(), abort.signal)[Symbol.asyncIterator]()
      assert.equal((await stream.next()).done, false)
      abort.abort()
      await assert.rejects(stream.next(), { code: status.CANCELLED })
      await left.promise
      rpc.close()
    },
  )
})
