import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { asynchronousDisk, MachineDisk } from '../fleet/simulated/disk.ts'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { Secret } from '../keys/secret.ts'
import { encodeKubeconfig } from '../kube/encode-kubeconfig.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { type AcquireContext, type BootstrapCredential, createCredentialChain } from './credential-sources.ts'
import { kubeconfigSource } from './kubeconfig-source.ts'

const context: AcquireContext = { reason: 'initial', nodeName: 'node-a' }
const path = '/etc/kubernetes/bootstrap-kubelet.conf'

async function machine() {
  const clock = createManualClock(0)
  const disk = asynchronousDisk(new MachineDisk(new SeededRandom('source'), clock), async call => call())
  await disk.makeDirectory('/etc/kubernetes', 0o755)
  const write = (token: string, at = path) =>
    disk.write(
      at,
      encodeKubeconfig({ server: 'https://192.0.2.1:6443', user: { token: new Secret(token) } }).reveal(),
      { mode: 0o600 },
    )
  return { disk, clock, write, source: (at = path) => kubeconfigSource(at, { disk, clock }) }
}

const tokenOf = ({ connection }: BootstrapCredential) => connection.bearerToken?.reveal()

test('report 6: the bootstrap kubeconfig is read anew for every attempt', async () => {
  const { source, write } = await machine()
  const chain = createCredentialChain([source()])
  await assert.rejects(
    chain.acquire(context),
    error => hasCode(error, 'CREDENTIAL_UNAVAILABLE') && error.message.includes('Missing'),
  )
  await write('abcdef.0123456789abcdef')
  assert.equal(tokenOf(await chain.acquire(context)), 'abcdef.0123456789abcdef')
  await write('ghijkl.0123456789abcdef')
  assert.equal(tokenOf(await chain.acquire({ ...context, reason: 'expired' })), 'ghijkl.0123456789abcdef')
})

test('each reason why a file gives nothing has its name, and none shows a secret', async () => {
  const { disk, source, write } = await machine()
  const reasonOf = async () => {
    const acquired = await source().acquire(context)
    return acquired.ok ? 'none' : `${acquired.reason}: ${acquired.message}`
  }
  assert.equal(await reasonOf(), 'Missing: ENOENT')
  await disk.makeDirectory(path, 0o700)
  assert.equal(await reasonOf(), 'Unreadable: EISDIR')
  const other = '/etc/kubernetes/other.conf'
  await disk.write(other, 'clusters: [', { mode: 0o600 })
  const invalid = await source(other).acquire(context)
  assert.ok(!invalid.ok && invalid.reason === 'Invalid')
  await disk.write(
    other,
    encodeKubeconfig({ server: 'https://192.0.2.1:6443', user: { token: new Secret('') } }).reveal(),
    { mode: 0o600 },
  )
  const empty = await source(other).acquire(context)
  assert.ok(!empty.ok && empty.reason === 'NoCredential')
  await write('abcdef.0123456789abcdef', other)
  assert.ok((await source(other).acquire(context)).ok)
})

test('the first source that gives a credential wins; the sources before it are asked again each time', async () => {
  const { source, write } = await machine()
  const second = '/etc/kubernetes/second.conf'
  const chain = createCredentialChain([source(), source(second)])
  await write('second', second)
  assert.equal(tokenOf(await chain.acquire(context)), 'second')
  await write('first')
  assert.equal(tokenOf(await chain.acquire(context)), 'first')
})

test('a rejected credential yields to the next source, is used when it is the only one, and a new one is not rejected', async () => {
  const { source, write } = await machine()
  const second = '/etc/kubernetes/second.conf'
  await write('first')
  await write('second', second)
  const chain = createCredentialChain([source(), source(second)])
  chain.reject(await chain.acquire(context))
  assert.equal(tokenOf(await chain.acquire(context)), 'second')
  chain.reject(await chain.acquire(context))
  assert.equal(tokenOf(await chain.acquire(context)), 'first', 'a 401 may pass')
  await write('new', second)
  assert.equal(tokenOf(await chain.acquire(context)), 'new')
})

test('a chain without sources says so', async () => {
  await assert.rejects(createCredentialChain([]).acquire(context), /no source is configured/)
})
