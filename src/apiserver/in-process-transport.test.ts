import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { createClient } from '../kube/client.ts'
import { resources, type WatchEvent } from '../kube/types.ts'
import { inProcessTransport } from './in-process-transport.ts'
import { openAccess, peer, smallApi } from './testing/small-api.ts'

const node = (name: string) => ({ apiVersion: 'v1', kind: 'Node', metadata: { name } })

describe('the transport within the process', () => {
  it('carries what a client asks and says who asks', async () => {
    const tokens: (string | undefined)[] = []
    const small = smallApi({
      access: {
        ...openAccess,
        authenticate(request, from) {
          tokens.push(`${request.headers.authorization} ${from.remoteAddress}`)
          return openAccess.authenticate(request, from)
        },
      },
    })
    const client = createClient(inProcessTransport(small.api, peer, { authorization: 'Bearer x' }))
    await client.create(resources.nodes, node('a'))
    assert.equal((await client.list(resources.nodes)).items.length, 1)
    await assert.rejects(client.get(resources.nodes, { name: 'b' }), { message: /nodes "b" not found/ })
    assert.deepEqual(new Set(tokens), new Set(['Bearer x 127.0.0.1']))
  })

  it('ends watches when the client leaves and when connections are closed', async () => {
    const small = smallApi()
    const transport = inProcessTransport(small.api, peer)
    const client = createClient(transport)
    const events: WatchEvent[] = []
    const leave = new AbortController()
    const watch = async (signal?: AbortSignal) => {
      const options = { resourceVersion: '1', ...(signal && { signal }) }
      for await (const event of client.watch(resources.nodes, options)) events.push(event)
    }
    const left = watch(leave.signal)
    const cut = watch()
    await client.create(resources.nodes, node('a'))
    leave.abort()
    await left.catch(() => undefined)
    transport.closeConnections()
    await cut.catch(() => undefined)
    assert.equal(events.length, 2)
    assert.equal(small.clock.pending(), 0)
    assert.equal((await client.list(resources.nodes)).items.length, 1)
  })
})
