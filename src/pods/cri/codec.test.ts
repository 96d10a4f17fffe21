import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { hasCode } from '../../errors.ts'
import { decode, encode } from './codec.ts'

const hex = (bytes: Uint8Array) => Buffer.from(bytes).toString('hex')

test('messages are written as protobuf says: packed numbers, two’s complement, absence and zero told apart', () => {
  assert.equal(hex(encode('VersionRequest', { version: 'v1' })), '0a027631')
  assert.equal(hex(encode('StopContainerRequest', { containerId: '', timeout: 300 })), '10ac02')
  assert.equal(hex(encode('LinuxContainerResources', { oomScoreAdj: -1 })), '28ffffffffffffffffff01')
  const security = { runAsUser: { value: 0 }, supplementalGroups: [1, 300], privileged: false }
  assert.equal(hex(encode('LinuxContainerSecurityContext', security)), '2a00420301ac02')
  assert.equal(hex(encode('LinuxContainerSecurityContext', {})), '')
  assert.equal(
    hex(encode('ContainerFilter', { labelSelector: { a: 'b' } })),
    '22060a016112016 2'.replaceAll(' ', ''),
  )
})

test('what is not said is empty, a message is undefined, and fields that nobody knows are skipped', () => {
  const unknown = Buffer.from('fa3f0378797a', 'hex')
  const bytes = Buffer.concat([encode('PodSandbox', { id: 'x' }), unknown])
  assert.deepEqual(decode('PodSandbox', bytes), {
    id: 'x',
    metadata: undefined,
    state: 0,
    createdAt: 0,
    labels: {},
    annotations: {},
  })
})

test('times come in nanoseconds and are held in milliseconds', () => {
  // created_at (4) of ContainerStatus: 2026-05-01T00:00:00.123456789Z.
  const nanos = BigInt(Date.parse('2026-05-01T00:00:00.123Z')) * 1_000_000n + 456_789n
  const varint: number[] = []
  let left = nanos
  for (; left >= 0x80n; left >>= 7n) varint.push(Number(left & 0x7fn) | 0x80)
  const { createdAt } = decode<{ createdAt: number }>(
    'ContainerStatus',
    Uint8Array.of(0x20, ...varint, Number(left)),
  )
  assert.equal(new Date(createdAt).toISOString(), '2026-05-01T00:00:00.123Z')
})

test('what was written is read again', () => {
  const number = fc.integer({ min: -(2 ** 31), max: 2 ** 31 })
  const texts = fc.dictionary(
    fc.string({ minLength: 1 }).filter(key => key !== '__proto__'),
    fc.string(),
  )
  const config = fc.record({
    metadata: fc.record({ name: fc.string(), attempt: fc.nat() }),
    command: fc.array(fc.string(), { maxLength: 3 }),
    envs: fc.array(fc.record({ key: fc.string(), value: fc.string() }), { maxLength: 3 }),
    labels: texts,
    linux: fc.record({
      resources: fc.record({ cpuShares: fc.nat(), oomScoreAdj: number }),
      securityContext: fc.record({ supplementalGroups: fc.array(fc.nat()), privileged: fc.boolean() }),
    }),
  })
  fc.assert(
    fc.property(config, made => {
      const config = structuredClone(made)
      const read = decode<typeof config>('ContainerConfig', encode('ContainerConfig', config))
      assert.deepEqual({ ...read.labels }, { ...config.labels })
      assert.deepEqual(
        [read.metadata, read.command, read.envs],
        [config.metadata, config.command, config.envs],
      )
      assert.equal(read.linux.resources.oomScoreAdj, config.linux.resources.oomScoreAdj)
      const { supplementalGroups, privileged } = read.linux.securityContext
      assert.deepEqual({ supplementalGroups, privileged }, config.linux.securityContext)
    }),
  )
})

test('whatever comes is read or refused, in time', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), bytes => {
      try {
        decode('ListContainersResponse', bytes)
      } catch (error) {
        assert.ok(hasCode(error, 'PROTOBUF_MALFORMED'), String(error))
      }
    }),
  )
})
