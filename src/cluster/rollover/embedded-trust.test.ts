import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import { systemClock as clock } from '../../host/clock.ts'
import { systemDisk as disk } from '../../host/disk.ts'
import { systemRandom as random } from '../../host/random.ts'
import { parseKubeconfig, selectContext } from '../../kube/kubeconfig.ts'
import { silentLog as log } from '../../ports.ts'
import { parseCertificatesPem } from '../../x509/certificate.ts'
import { openPki } from '../pki.ts'
import { CaStore } from './ca-store.ts'
import { EmbeddedTrust } from './embedded-trust.ts'
import { ownCredentials } from './own-credentials.ts'
import { type ApiState, decodeState, firstState } from './role-state.ts'

async function trustOf(t: TestContext) {
  const directory = mkdtempSync(join(tmpdir(), 'rollcall-trust-'))
  t.after(() => rmSync(directory, { recursive: true }))
  mkdirSync(join(directory, 'pki'))
  const addresses = ['127.0.0.1']
  const pki = await openPki({ directory: join(directory, 'pki'), addresses, disk, random, clock })
  const cas = new CaStore({ directory: join(directory, 'ca'), first: pki.ca, disk, random, clock })
  await cas.load()
  const store = { state: decodeState(undefined) }
  const options = { pki, cas, addresses, clock, random, log, bundles: () => new Map() }
  const trust = new EmbeddedTrust({ ...options, stored: () => store.state })
  return { directory, pki, cas, trust, store }
}

const signedBy = (authority: number): ApiState => ({
  ...decodeState(undefined),
  client: { ...firstState, sign: { authority, mode: 'old' } },
})

test('what is stored is put in force one time after the other, and an older state never comes last', async t => {
  const { trust, store } = await trustOf(t)
  const entered: (number | undefined)[] = []
  let inside = 0
  const first = Promise.withResolvers<void>()
  trust.beforeApplied(async next => {
    inside += 1
    assert.equal(inside, 1, 'two states are prepared at once')
    entered.push(next.client.sign.authority)
    if (entered.length === 1) await first.promise
    inside -= 1
  })
  store.state = signedBy(2)
  const applied = [trust.follow(), trust.follow()]
  store.state = signedBy(3)
  applied.push(trust.follow())
  first.resolve()
  await Promise.all(applied)
  assert.equal(trust.role('client').sign.authority, 3)
  assert.deepEqual(entered, [3], 'what is in force already is not prepared again')
})

test('a state that cannot be put in force is told to who asked, and the next one is', async t => {
  const { trust, store } = await trustOf(t)
  trust.beforeApplied(async next => {
    if (next.client.sign.authority === 2) throw new Error('the disk is full')
  })
  store.state = signedBy(2)
  await assert.rejects(trust.follow(), /the disk is full/)
  assert.equal(trust.role('client').sign.authority, 1)
  store.state = signedBy(3)
  await trust.follow()
  assert.equal(trust.role('client').sign.authority, 3)
})

test("the administrator's kubeconfig stays whole, and is the last one, when it is written from several sides at once", async t => {
  const { directory, pki, cas, trust } = await trustOf(t)
  await trust.follow()
  const adminKubeconfig = join(directory, 'admin.kubeconfig')
  const own = await ownCredentials({
    ...{ trust, pki, adminKubeconfig, clock, random, disk },
    issuerOf: leaf => cas.issuerOf('client', leaf),
    loopbacks: {},
    server: 'https://127.0.0.1:6443',
  })
  await cas.create('client', 2)
  const admin = own.leaves['admin.kubeconfig']
  const renewals = [1, 2, 1, 2].map(generation => admin?.renew(cas.authority('client', generation)))
  await Promise.all([...renewals, own.writeAdminKubeconfig()])
  const text = new TextDecoder().decode(await disk.read(adminKubeconfig))
  const certificate = selectContext(parseKubeconfig(text, adminKubeconfig)).user.clientCertificate
  assert.ok(certificate && 'data' in certificate)
  const [leaf] = parseCertificatesPem(certificate.data.reveal())
  assert.ok(leaf)
  assert.equal(cas.issuerOf('client', leaf), admin?.issuer())
})

test('while its chains are made anew, each connection that comes is shown one; a CA that is gone takes no other chain with it', async t => {
  const { cas, trust, store } = await trustOf(t)
  for (const generation of [2, 3]) await cas.create('apiserver-serving', generation)
  await trust.follow()
  await trust.prepareChain(2, 'bare')
  store.state = {
    ...decodeState(undefined),
    'apiserver-serving': { ...firstState, present: { authority: 3, mode: 'bare' } },
  }
  await trust.follow()
  const before = trust.choice.forConnection('127.0.0.1')
  const keeping = trust.keepLeaves()
  assert.equal(trust.choice.forConnection('127.0.0.1').id, '3/bare')
  await keeping
  assert.notEqual(trust.choice.forConnection('127.0.0.1'), before)
  const { authority } = cas
  t.mock.method(cas, 'authority', (role: 'client', generation: number) =>
    generation === 2 ? undefined : authority.call(cas, role, generation),
  )
  t.mock.method(cas, 'load', async () => {})
  await assert.rejects(trust.keepLeaves(), RangeError)
  assert.equal(trust.choice.forConnection('127.0.0.1').id, '3/bare')
})
