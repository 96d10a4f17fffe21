import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asynchronousDisk, MachineDisk } from '../fleet/simulated/disk.ts'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { parseKubeconfig, selectContext } from '../kube/kubeconfig.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { readEndpoint, sameEndpoint, writeNodeKubeconfig } from './node-kubeconfig.ts'

const path = '/etc/kubernetes/kubelet.conf'
const pair = '/var/lib/kubelet/pki/kubelet-client-current.pem'
const server = 'https://192.0.2.1:6443'

function machine() {
  const clock = createManualClock(0)
  return {
    clock,
    disk: asynchronousDisk(new MachineDisk(new SeededRandom('kubeconfig'), clock), async call => call()),
  }
}

test('K-10: names, modes and references are those of the kubelet, and no certificate needs to be there yet', async () => {
  const { disk } = machine()
  await writeNodeKubeconfig(
    disk,
    path,
    { connection: { server }, certificateAuthority: { file: '/pki/ca.crt' } },
    pair,
  )
  const text = new TextDecoder().decode(await disk.read(path))
  const { context, namespace, cluster, user, userName } = selectContext(parseKubeconfig(text, path))
  assert.deepEqual(
    { context, namespace, cluster, user, userName },
    {
      context: 'default-context',
      namespace: 'default',
      cluster: { server, certificateAuthority: { file: '/pki/ca.crt' }, insecureSkipTlsVerify: false },
      user: { clientCertificate: { file: pair }, clientKey: { file: pair } },
      userName: 'default-auth',
    },
  )
  assert.equal((await disk.stat(path)).mode, 0o600)
  assert.equal((await disk.stat('/etc/kubernetes')).mode, 0o755)
})

test('an endpoint that is written is read back, with the contents of its CA file at that time', async () => {
  const { disk, clock } = machine()
  await disk.makeDirectory('/pki', 0o755)
  await disk.write('/pki/ca.crt', 'one', { mode: 0o644 })
  await writeNodeKubeconfig(
    disk,
    path,
    { connection: { server }, certificateAuthority: { file: '/pki/ca.crt' } },
    pair,
  )
  const first = await readEndpoint(path, { disk, clock })
  assert.deepEqual(first, {
    connection: { server, certificateAuthority: 'one' },
    certificateAuthority: { file: '/pki/ca.crt' },
  })
  await disk.write('/pki/ca.crt', 'two', { mode: 0o644 })
  const second = await readEndpoint(path, { disk, clock })
  assert.equal(second.connection.certificateAuthority, 'two')
  assert.ok(!sameEndpoint(first, second))
  assert.ok(sameEndpoint(second, await readEndpoint(path, { disk, clock })))
})

test('an embedded CA and the name for TLS are kept', async () => {
  const { disk, clock } = machine()
  const connection = { server, certificateAuthority: 'pem', tlsServerName: 'kubernetes' }
  await writeNodeKubeconfig(disk, path, { connection, certificateAuthority: { pem: 'pem' } }, pair)
  assert.deepEqual((await readEndpoint(path, { disk, clock })).connection, connection)
  assert.deepEqual(await disk.list('/etc/kubernetes'), ['kubelet.conf'])
})
