import assert from 'node:assert/strict'
import { test } from 'node:test'
import { asynchronousDisk, MachineDisk } from '../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../fleet/simulated/random.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { recordingLog } from '../../testing/recording-log.ts'
import { kubeletClientCas } from './kubelet-client-cas.ts'

test('the kubelet’s own file holds the bundle; the CA that kubeadm signs with is left alone', async () => {
  const machine = new MachineDisk(new SeededRandom('cas'), createManualClock(0))
  const disk = asynchronousDisk(machine, async call => call())
  machine.makeDirectory('/etc/kubernetes/pki', 0o755)
  machine.write('/etc/kubernetes/pki/ca.crt', 'kubeadm', { mode: 0o644 })
  const text = () => new TextDecoder().decode(machine.read('/etc/kubernetes/pki/ca.crt'))
  const log = recordingLog()

  const worker = kubeletClientCas('/etc/kubernetes/pki/ca.crt', { disk, log })
  worker.keep('one')
  worker.keep('two')
  await worker.stop()
  assert.equal(text(), 'two')

  machine.write('/etc/kubernetes/pki/ca.key', 'key', { mode: 0o600 })
  const controlPlane = kubeletClientCas('/etc/kubernetes/pki/ca.crt', { disk, log })
  controlPlane.keep('three')
  await controlPlane.stop()
  assert.equal(text(), 'two')
  assert.match(JSON.stringify(log.fields.at(-1)), /the CA that kubeadm signs with/)
})
