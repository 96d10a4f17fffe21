import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import {
  chmodSync,
  chownSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { type BesideKubelet, curlAsNobody, startBesideKubelet } from './support/beside-kubelet.ts'
import { eventually } from './support/eventually.ts'
import { type Kubectl, kubectl, noKubectl, noOldKubectl, oldKubectl } from './support/kubectl.ts'
import { type RollcallProcess, runRollcall } from './support/rollcall-process.ts'

const notRoot = process.getuid?.() !== 0 && 'needs root'

// kubectl plays the kubelet: both are client-go, and this kubeconfig is the kubelet's.
describe('beside a kubelet in exec mode', { skip: noKubectl }, () => {
  let node: BesideKubelet
  let agent: RollcallProcess
  let kubelet: Kubectl
  const get = 'get node node-a -o name --ignore-not-found'

  before(async () => {
    node = await startBesideKubelet('exec', { lifetime: '10m' })
    writeFileSync(node.kubeletKubeconfig, 'apiVersion: v1\nkind: Config\n# of kubeadm\n')
    chmodSync(node.kubeletKubeconfig, 0o640)
    if (process.getuid?.() === 0) chownSync(node.kubeletKubeconfig, 1234, 5678)
    agent = node.startAgent()
    await agent.ready
    kubelet = kubectl({ kubeconfig: node.kubeletKubeconfig, home: node.in('home') })
  })
  after(() => node?.stop())

  const credential = async () => {
    const { code, stdout, stderr } = await runRollcall(['credential', '--socket', node.socket])
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout) as {
      apiVersion: string
      status: { clientCertificateData: string; clientKeyData: string; expirationTimestamp: string }
    }
  }
  const serial = async () =>
    new X509Certificate((await credential()).status.clientCertificateData).serialNumber

  test('the kubeconfig that was there is kept under another name, its owner and mode stay', () => {
    const { mode, uid, gid } = statSync(node.kubeletKubeconfig)
    assert.equal(mode & 0o777, 0o640)
    if (process.getuid?.() === 0) assert.deepEqual([uid, gid], [1234, 5678])
    assert.match(readFileSync(`${node.kubeletKubeconfig}.before-rollcall`, 'utf8'), /# of kubeadm/)
    const text = readFileSync(node.kubeletKubeconfig, 'utf8')
    assert.match(text, /interactiveMode: Never/)
    assert.doesNotMatch(text, /PRIVATE|client-key|token:/)
    assert.match(
      text,
      /certificate-authority: .*api-ca\.crt/,
      'client-go reads a CA again only where it is a file',
    )
  })

  test('client-go acts as the node, and is told to ask again before the certificate is replaced', async () => {
    await kubelet.ok(get)
    const { apiVersion, status } = await credential()
    assert.equal(apiVersion, 'client.authentication.k8s.io/v1')
    const { validTo, subject } = new X509Certificate(status.clientCertificateData)
    assert.match(subject, /CN=system:node:node-a/)
    const until = Date.parse(status.expirationTimestamp)
    assert.ok(until > Date.now() && until <= Date.now() + 301_000 && until <= Date.parse(validTo))
    assert.deepEqual((await credential()).status.clientKeyData, status.clientKeyData)
  })

  test('client-go of 1.20 acts as the node, with v1beta1', { skip: noOldKubectl }, async () => {
    const old = node.in('old.conf')
    const text = readFileSync(node.kubeletKubeconfig, 'utf8')
    writeFileSync(
      old,
      text
        .replace('k8s.io/v1', 'k8s.io/v1beta1')
        .replace('provideClusterInfo: false', 'provideClusterInfo: true'),
    )
    await kubectl({ kubeconfig: old, home: node.in('old'), program: oldKubectl }).ok(get)
  })

  test('socket and folder are open to their owner alone, and who may not enter gets nothing', async () => {
    assert.equal(lstatSync(node.in('run')).mode & 0o777, 0o700)
    assert.equal(lstatSync(node.socket).mode & 0o022, 0)
    chmodSync(node.in('run'), 0o777)
    try {
      const { code, stdout, stderr } = await runRollcall(['credential', '--socket', node.socket])
      assert.deepEqual([code, stdout], [1, ''])
      assert.match(stderr, /can be written by others/)
    } finally {
      chmodSync(node.in('run'), 0o700)
    }
  })

  test('attack: another user of the machine gets nothing from the socket', { skip: notRoot }, () => {
    const url = 'http://agent/v1/credential'
    const refused = curlAsNobody(['--unix-socket', node.socket, url])
    assert.deepEqual(refused, { code: 7, stdout: '' }, 'curl: cannot connect')
    for (const file of ['agent/pki/kubelet-client-current.pem', 'agent/kubelet/kubelet-serving.pem'])
      assert.equal(curlAsNobody([`file://${node.in(file)}`]).code, 37, 'curl: cannot read the file')
  })

  test('attack: in a folder that another user made beforehand no credential is given', {
    skip: notRoot,
  }, async () => {
    const folder = node.in('run/of-nobody')
    mkdirSync(folder, 0o700)
    chownSync(folder, 65_534, 65_534)
    // All else is another node's, so that this one is not disturbed.
    const files = ['--cert-dir', node.in('o/pki'), '--kubeconfig', node.in('o/kubeconfig')]
    const kubelet = ['--kubelet-kubeconfig', node.in('o/kubelet.conf'), '--node', 'node-b']
    const agent = node.startAgent(['--socket', `${folder}/agent.sock`, ...files, ...kubelet])
    await eventually('it is said', () => agent.stderr().includes(`${folder} belongs to user 65534`))
    assert.equal(existsSync(`${folder}/agent.sock`), false)
    await agent.stop()
  })

  test('the serving pair is one file of root’s that holds certificate and key', () => {
    const path = node.in('agent/kubelet/kubelet-serving.pem')
    assert.equal(statSync(path).mode & 0o777, 0o600)
    assert.match(readFileSync(path, 'utf8'), /BEGIN CERTIFICATE[\s\S]*BEGIN (EC )?PRIVATE KEY/)
  })

  test('while the agent is away client-go goes on with the pair on the disk, and an agent that was killed is found again', async () => {
    const before = await serial()
    agent.child.kill('SIGKILL')
    await agent.ended
    await kubelet.ok(get)
    agent = node.startAgent()
    await agent.ready
    assert.equal(await serial(), before)
  })

  test('after a lapse the certificate that comes back is used at once', async () => {
    const before = await serial()
    await agent.stop()
    // What a long rest leaves: nothing that is still good.
    renameSync(node.in('agent/pki'), node.in('agent/pki.lapsed'))
    const waiting = kubelet.run(get)
    agent = node.startAgent()
    assert.equal((await waiting).code, 0)
    assert.notEqual(await serial(), before)
  })

  test('a watch of client-go streams under the certificate', async () => {
    const watch = kubelet.follow('get nodes --field-selector metadata.name=node-a --watch -o name')
    const admin = kubectl({ kubeconfig: node.adminKubeconfig, home: node.in('admin') })
    try {
      await admin.ok('create -f -', { apiVersion: 'v1', kind: 'Node', metadata: { name: 'node-a' } })
      assert.equal(await watch.line(), 'node/node-a')
      await admin.ok('label node node-a a=b')
      assert.equal(await watch.line(), 'node/node-a')
    } finally {
      await watch.stop()
    }
  })

  test('without a certificate the plugin says why within its time, and the token’s holder is told of proxy', async () => {
    await agent.stop()
    const { code, stderr } = await runRollcall(['credential', '--socket', node.socket, '--wait', '1'])
    assert.equal(code, 1)
    assert.match(stderr, /does not serve|does not answer/)
    const refused = await runRollcall([
      'agent',
      '--beside-kubelet',
      'exec',
      '--client-key',
      'pkcs11:token=a?module-path=/none.so',
    ])
    assert.equal(refused.code, 2)
    assert.match(refused.stderr, /--beside-kubelet proxy/)
  })
})
