import assert from 'node:assert/strict'
import { test } from 'node:test'
import { readKubeconfig } from '../../agent/control-plane/kubeconfig-text.ts'
import { leafOf } from '../../agent/control-plane/local-pairs.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { formatName } from '../../x509/name.ts'
import { namedRestarts } from './named-restarts.ts'
import { type KubeadmCluster, kubeadmCluster } from './testing/kubeadm-cluster.ts'

const kubeconfigs = ['admin', 'super-admin', 'controller-manager', 'scheduler'].map(
  name => `/etc/kubernetes/${name}.conf`,
)
const namesIn = (pem: string) => parseCertificatesPem(pem).map(({ subject }) => formatName(subject))
const issuerOf = (pem: string) => {
  const leaf = leafOf(pem)
  return leaf && formatName(leaf.issuer)
}

/** Whoever does what on a node says: by the old CA, or by the new one. */
function held({ nodes }: KubeadmCluster): {
  trusted: Set<string>
  held: Set<string | undefined>
  signing: Set<string>
} {
  const data = nodes.flatMap(node => kubeconfigs.map(path => readKubeconfig(node.text(path), path)))
  return {
    trusted: new Set(data.flatMap(({ authorities }) => namesIn(authorities))),
    held: new Set(data.map(({ certificate }) => issuerOf(certificate))),
    signing: new Set(nodes.flatMap(({ pods }) => namesIn(pods.manager()?.signing ?? ''))),
  }
}

test('the client CA of three control planes is changed, one at a time, with the restarts that were named, and nobody is turned away', async () => {
  const under = await kubeadmCluster()
  await under.begin('client')
  await under.until('client', phase => phase === 'Reissuing')
  await under.pass(45)
  const { status } = await under.rotation('client')
  assert.match(`${status?.blockers}`, /^LedgerIncomplete: ledger/)
  await under.acknowledge('client', 'ledger')
  await under.until('client', phase => phase === 'Done')
  const next = 'CN=rollcall-client-ca-2'
  assert.deepEqual([held(under).held, held(under).signing], [new Set([next]), new Set([next])])
  for (const { pods, pair } of under.nodes) {
    assert.deepEqual(namesIn(pods.judgedBy()), [next])
    assert.equal(issuerOf(pair.certificate), next)
  }
  assert.deepEqual(under.lost, [])
  assert.equal(under.mostDown(), 1)
  const named = namedRestarts('client', undefined)
  assert.deepEqual(Object.values(under.restarts()), [named, named, named])
  await under.stop()
})

test('the CA of the API servers is changed when all that reads it has proven the new one, and nobody is turned away', async () => {
  const under = await kubeadmCluster()
  await under.begin('apiserver-serving')
  await under.until('apiserver-serving', phase => phase === 'Done')
  const next = 'CN=rollcall-apiserver-serving-ca-2'
  assert.deepEqual(held(under).trusted, new Set([next]))
  for (const { pods, text } of under.nodes) {
    assert.equal(issuerOf(text('/etc/kubernetes/pki/rollcall/apiserver.crt')), next)
    assert.deepEqual(namesIn(pods.trustedBy('kube-scheduler')), [next])
    assert.deepEqual(namesIn(pods.manager()?.rootCa ?? ''), [next])
  }
  assert.deepEqual(under.lost, [])
  assert.equal(under.mostDown(), 1)
  const named = namedRestarts('apiserver-serving', undefined)
  assert.deepEqual(Object.values(under.restarts()), [named, named, named])
  await under.stop()
})

test('certificates that were made on the nodes are made anew before they end, one control plane at a time', async () => {
  const under = await kubeadmCluster()
  await under.begin('apiserver-serving')
  await under.until('apiserver-serving', phase => phase === 'Done')
  const served = () =>
    under.nodes.map(({ text }) => leafOf(text('/etc/kubernetes/pki/rollcall/apiserver.crt'))?.notAfter ?? 0)
  const [before = 0] = served()
  const restarts = under.restarts()
  const day = 86_400_000
  under.cluster.clock.step(260 * day)
  await under.pass(60)
  assert.ok(served().every(notAfter => notAfter > before + 200 * day))
  assert.deepEqual([under.restarts(), under.mostDown()], [restarts, 1])
  assert.deepEqual(under.lost, [])
  await under.stop()
})

test('a kube-apiserver that does not come back: its node is as before, the rotation is paused and no other node was touched', async () => {
  const under = await kubeadmCluster()
  const [first, second, third] = under.nodes
  assert.ok(first && second && third)
  const before = [second.files(), third.files()]
  const unchanged = first.files()
  first.pods.comesUp = (component, manifest) =>
    component !== 'kube-apiserver' || !manifest.includes('rollcall')
  await under.begin('client')
  await under.until('client', phase => phase === 'Paused')
  const { status } = await under.rotation('client')
  assert.match(`${status?.blockers}`, /OrderFailed: control-plane\/cp-1 was undone: no kube-apiserver runs/)
  assert.deepEqual(first.files(), unchanged)
  await under.pass(60)
  assert.deepEqual([second.files(), third.files()], before)
  assert.equal(under.mostDown(), 1)
  // Repaired, and told to go on: it is tried again.
  first.pods.comesUp = () => true
  await under.resume('client')
  await under.until('client', phase => phase === 'Reissuing')
  await under.stop()
})

test('rolled back when the bare chain of the new CA is shown already: everybody goes by the old one again', async () => {
  const under = await kubeadmCluster()
  await under.begin('apiserver-serving')
  await under.until('apiserver-serving', phase => phase === 'Unbridging')
  await under.pass(4)
  await under.change('apiserver-serving', { rollback: true })
  await under.until('apiserver-serving', phase => phase === 'RolledBack')
  for (const { text } of under.nodes)
    assert.equal(issuerOf(text('/etc/kubernetes/pki/rollcall/apiserver.crt')), 'CN=kubernetes')
  assert.deepEqual([under.lost, under.mostDown()], [[], 1])
  await under.stop()
})

test('rolled back amid the renewal: every certificate and every CA is the old one again', async () => {
  const under = await kubeadmCluster()
  await under.begin('client')
  await under.until('client', phase => phase === 'Reissuing')
  await under.pass(6)
  await under.change('client', { rollback: true })
  await under.until('client', phase => phase === 'RestoringLeaves')
  await under.acknowledge('client', 'ledger')
  await under.until('client', phase => phase === 'RolledBack')
  const old = 'CN=kubernetes'
  assert.deepEqual([held(under).held, held(under).signing], [new Set([old]), new Set([old])])
  for (const { pair } of under.nodes) assert.equal(issuerOf(pair.certificate), old)
  assert.deepEqual([under.lost, under.mostDown()], [[], 1])
  await under.stop()
})
