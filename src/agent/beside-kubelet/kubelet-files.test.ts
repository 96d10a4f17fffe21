import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asynchronousDisk, MachineDisk } from '../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../fleet/simulated/random.ts'
import { parseKubeconfig, selectContext } from '../../kube/kubeconfig.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { keepForeign, kubeletKubeconfig, replaceFile } from './kubelet-files.ts'

const path = '/etc/kubernetes/kubelet.conf'
const connection = {
  server: 'https://api:6443',
  tlsServerName: 'kubernetes.example',
  proxyUrl: 'http://proxy:3128',
}

async function machine() {
  const clock = createManualClock(0)
  const disk = asynchronousDisk(new MachineDisk(new SeededRandom('files'), clock), async call => call())
  await disk.makeDirectory('/etc/kubernetes', 0o755)
  return disk
}

describe('the kubeconfig of a kubelet beside', () => {
  test('report 20: names no certificate, keeps tls-server-name and proxy-url, and is read back by client-go’s rules', () => {
    const user = { exec: { command: '/usr/local/bin/rollcall', args: ['credential'] } }
    const text = kubeletKubeconfig({ connection }, { file: '/ca.crt' }, user).reveal()
    const context = selectContext(parseKubeconfig(text, path))
    assert.deepEqual(
      [context.cluster.tlsServerName, context.cluster.proxyUrl, context.cluster.certificateAuthority],
      ['kubernetes.example', 'http://proxy:3128', { file: '/ca.crt' }],
    )
    assert.deepEqual(context.user.exec?.interactiveMode, 'Never')
    assert.equal(context.user.clientCertificate, undefined)
  })

  test('leads to the proxy with a token in a file, and past every other proxy', () => {
    const user = {
      server: 'https://127.0.0.1:6444',
      certificateAuthorityFile: '/p.crt',
      tokenFile: '/t/proxy-token',
    }
    const context = selectContext(
      parseKubeconfig(kubeletKubeconfig({ connection }, undefined, user).reveal(), path),
    )
    assert.equal(context.cluster.server, 'https://127.0.0.1:6444')
    assert.equal(context.cluster.proxyUrl, undefined)
    assert.equal(context.user.tokenFile, '/t/proxy-token')
  })

  test('replaces another’s once, which is kept, and its own without a copy', async () => {
    const disk = await machine()
    await disk.write(path, 'of kubeadm', { mode: 0o644 })
    assert.equal(await keepForeign(disk, path), `${path}.before-rollcall`)
    const user = { exec: { command: '/usr/local/bin/rollcall', args: [] } }
    const text = kubeletKubeconfig({ connection }, undefined, user).reveal()
    assert.equal(await replaceFile(disk, path, text, 0o600), true)
    assert.equal(await replaceFile(disk, path, text, 0o600), false, 'what is so already is not written')
    assert.equal(await keepForeign(disk, path), undefined)
    assert.equal((await disk.stat(path)).mode, 0o640, 'what was open to all is not any more')
    assert.equal(new TextDecoder().decode(await disk.read(`${path}.before-rollcall`)), 'of kubeadm')
    await disk.write(path, 'of a tool', { mode: 0o600 })
    assert.equal(await keepForeign(disk, path), undefined, 'the first copy is the one to go back to')
  })

  test('takes the place of a symlink, closed, and leaves what that led to as it was', async () => {
    const disk = await machine()
    await disk.write('/etc/kubernetes/other', 'of somebody', { mode: 0o644 })
    await disk.symlink('/etc/kubernetes/other', path)
    assert.equal(await replaceFile(disk, path, 'secret', 0o600), true)
    const { kind, mode } = await disk.stat(path)
    assert.deepEqual([kind, mode], ['file', 0o600])
    assert.equal(new TextDecoder().decode(await disk.read('/etc/kubernetes/other')), 'of somebody')
  })
})
