import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asynchronousDisk, MachineDisk } from '../fleet/simulated/disk.ts'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { encodeKubeconfig } from '../kube/encode-kubeconfig.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { recordingLog } from '../testing/recording-log.ts'
import { NodeEndpoint } from './node-endpoint.ts'

const kubeconfigPath = '/etc/kubernetes/kubelet.conf'
const ca = '/etc/kubernetes/pki/ca.crt'

async function endpoint(ofCa: string) {
  const clock = createManualClock(Date.parse('2026-05-01T10:20:30Z'))
  const disk = asynchronousDisk(new MachineDisk(new SeededRandom('endpoint'), clock), async call => call())
  const write = async (path: string, text: string) => {
    await disk.makeDirectory(path.slice(0, path.lastIndexOf('/')), 0o755)
    await disk.write(path, text, { mode: 0o600 })
  }
  const user = { clientCertificate: { file: '/p' }, clientKey: { file: '/p' } }
  await write(ca, ofCa)
  // The pair itself need not be there: who the node is, is another matter.
  await write('/p', '-----BEGIN CERTIFICATE-----\nMA==\n-----END CERTIFICATE-----\n')
  const text = encodeKubeconfig({ server: 'https://api:6443', certificateAuthority: { file: ca }, user })
  await write(kubeconfigPath, text.reveal())
  const log = recordingLog()
  const changes: string[] = []
  const node = new NodeEndpoint({
    disk,
    clock,
    log,
    kubeconfigPath,
    bootstrapKubeconfigPath: undefined,
    currentPairPath: '/p',
    onChange: () => changes.push(node.current?.connection.certificateAuthority ?? 'none'),
  })
  await node.load()
  return { node, write, disk, log, changes }
}

describe('the CA of the API in a file', () => {
  test('K-60, K-61: is read again, unlike a kubelet’s, and whoever writes a kubeconfig hears of it', async () => {
    const { node, write, changes } = await endpoint('old')
    assert.equal(await node.refresh(), false)
    await write(ca, 'old and new')
    assert.equal(await node.refresh(), true)
    assert.deepEqual(changes, ['old', 'old and new'])
  })

  test('K-63: that cannot be read leaves the one before, and says so', async () => {
    const { node, disk, log, changes } = await endpoint('old')
    await disk.remove(ca)
    assert.equal(await node.refresh(), false)
    assert.equal(node.current?.connection.certificateAuthority, 'old')
    assert.deepEqual(changes, ['old'])
    assert.ok(log.lines.includes('warn: a kubeconfig cannot be used'))
  })
})
