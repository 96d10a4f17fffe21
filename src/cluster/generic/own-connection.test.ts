import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Secret } from '../../keys/secret.ts'
import type { ApiResponse, ConnectionConfig } from '../../kube/transport.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { openOwnConnection } from './own-connection.ts'

const date = 'Mon, 01 Jun 2026 00:10:00 GMT'
const answer: ApiResponse = { status: 200, headers: { date }, body: new Uint8Array() }
const request = { method: 'GET', url: '/version', headers: {} }

test('who changes the kubeconfig changes the connection: what was asked is answered first, a spoilt file changes nothing', async () => {
  const clock = createManualClock(Date.parse('2026-06-01T00:00:00Z'))
  const log = recordingLog()
  let file: ConnectionConfig | undefined = {
    server: 'https://api',
    certificateAuthority: 'old',
    bearerToken: new Secret('t'),
  }
  const events: string[] = []
  const waiting: (() => void)[] = []
  const connection = await openOwnConnection({
    clock,
    log,
    read: async () => file ?? Promise.reject(new Error('half a file')),
    connect: ({ certificateAuthority }) => ({
      async request() {
        events.push(`asked by ${certificateAuthority}`)
        if (certificateAuthority === 'old') await new Promise<void>(resolve => waiting.push(resolve))
        return answer
      },
      closeConnections: () => void events.push(`closed ${certificateAuthority}`),
    }),
  })
  const first = connection.request(request)
  file = undefined
  await clock.advance(1000)
  const second = connection.request(request)
  file = { server: 'https://api', certificateAuthority: 'new', bearerToken: new Secret('t') }
  await clock.advance(1000)
  await connection.request(request)
  assert.equal(connection.trusts(), 'new')
  assert.equal(connection.clockSkew(), 600_500 - 2000, 'the clock of the API is ten minutes ahead')
  assert.deepEqual(events, ['asked by old', 'asked by old', 'asked by new'])
  for (const answered of waiting) answered()
  await Promise.all([first, second])
  assert.deepEqual(events.slice(3), ['closed old'])
  assert.deepEqual(log.lines.filter(line => /cannot be read/.test(line)).length, 1)
})
