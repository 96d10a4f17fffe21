import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { asynchronousDisk, MachineDisk } from '../../fleet/simulated/disk.ts'
import { SeededRandom } from '../../fleet/simulated/random.ts'
import { clientTemplate } from '../../join/template.ts'
import { encodeKubeconfig } from '../../kube/encode-kubeconfig.ts'
import type { Disk } from '../../ports.ts'
import { createManualClock } from '../../testing/manual-clock.ts'
import { createTestAuthority } from '../../testing/test-authority.ts'
import { createCertificateStore } from '../certificate-store.ts'
import { carryOut, operationText } from './operation.ts'
import { planRepair } from './plan-repair.ts'

const now = Date.parse('2026-05-01T10:20:30Z')
const day = 86_400_000
const pki = '/var/lib/kubelet/pki'
const current = `${pki}/kubelet-client-current.pem`
const kubeconfig = '/etc/kubernetes/kubelet.conf'
const bootstrap = '/etc/kubernetes/bootstrap-kubelet.conf'
const stamp = '.broken-20260501T102030Z'
const authority = await createTestAuthority(new SeededRandom('repair'))
const issue = (notBefore: number, notAfter: number) =>
  authority.issue(clientTemplate('node-a', 'Ed25519'), { notBefore, notAfter })
const [older, newer, ended] = await Promise.all([
  issue(now - 9 * day, now + 9 * day),
  issue(now - day, now + 20 * day),
  issue(now - 400 * day, now - 35 * day),
])

/** A kubelet's disk with two pairs, `current` showing the newer, and its kubeconfig. */
async function machine() {
  const clock = createManualClock(now - 9 * day)
  const disk = asynchronousDisk(new MachineDisk(new SeededRandom('disk'), clock), async call => call())
  const log = { info() {}, warn() {}, error() {} }
  const store = createCertificateStore({ disk, clock, log, directory: pki, prefix: 'kubelet-client' })
  await store.update(older.chain, older.key)
  await clock.advance(8 * day)
  await store.update(newer.chain, newer.key)
  await disk.makeDirectory('/etc/kubernetes', 0o755)
  const user = { clientCertificate: { file: current }, clientKey: { file: current } }
  await write(disk, kubeconfig, encodeKubeconfig({ server: 'https://api:6443', user }).reveal())
  return disk
}

const write = (disk: Disk, path: string, text: string) => disk.write(path, text, { mode: 0o600 })
const read = async (disk: Disk, path: string) => new TextDecoder().decode(await disk.read(path))
const plan = (disk: Disk) =>
  planRepair({
    disk,
    now,
    certDirectory: pki,
    kubeconfigPath: kubeconfig,
    bootstrapKubeconfigPath: bootstrap,
  })

/** Mends it; what was done. A second look must find nothing to do. */
async function mend(disk: Disk): Promise<string[]> {
  const repairs = await plan(disk)
  const operations = repairs.flatMap(repair => repair.operations)
  for (const operation of operations) await carryOut(disk, operation)
  assert.deepEqual(
    (await plan(disk)).flatMap(repair => repair.operations),
    [],
  )
  return operations.map(operationText)
}

async function put(disk: Disk, path: string, text: string): Promise<void> {
  await disk.remove(path)
  await write(disk, path, text)
}

describe('the repair of a node', () => {
  test('touches nothing of a node that is well', async () => {
    assert.deepEqual(await plan(await machine()), [])
  })

  test('report 17: an empty current pair gives way to the newest that can be used', async () => {
    const disk = await machine()
    await write(disk, `${pki}/${await disk.readlink(current)}`, '')
    const done = await mend(disk)
    assert.deepEqual(done, [`link ${current} to kubelet-client-2026-04-22-10-20-30.pem`])
    assert.equal(await read(disk, current), older.chain + older.key.reveal())
  })

  test('a key that does not belong to its certificate, and a pair cut short, are no pairs', async () => {
    for (const text of [newer.chain + older.key.reveal(), (newer.chain + newer.key.reveal()).slice(0, -60)]) {
      const disk = await machine()
      await write(disk, `${pki}/${await disk.readlink(current)}`, text)
      await mend(disk)
      assert.equal(await read(disk, current), older.chain + older.key.reveal())
    }
  })

  test('report 16: a link to nothing is mended, or taken away where there is no pair', async () => {
    const disk = await machine()
    await disk.remove(`${pki}/${await disk.readlink(current)}`)
    await mend(disk)
    assert.equal(await read(disk, current), older.chain + older.key.reveal())
    await disk.remove(`${pki}/${await disk.readlink(current)}`)
    await write(disk, bootstrap, 'kind: Config\n')
    assert.deepEqual(await mend(disk), [`remove ${current}`, `move ${kubeconfig} to ${kubeconfig}${stamp}`])
  })

  test('report 19: a current pair that is a file becomes a link to a file of its own', async () => {
    const disk = await machine()
    await put(disk, current, newer.chain + newer.key.reveal())
    await mend(disk)
    assert.equal((await disk.stat(current)).kind, 'symlink')
    assert.equal(await read(disk, current), newer.chain + newer.key.reveal())
  })

  test('K-13: what an interrupted switch left is taken away, and the pair is current', async () => {
    const disk = await machine()
    await disk.rename(current, `${pki}/kubelet-client-updated.pem`)
    await mend(disk)
    assert.equal(await read(disk, current), newer.chain + newer.key.reveal())
  })

  test('report 20, report 21: a kubeconfig that embeds the first certificate refers to the store, all else stays', async () => {
    for (const first of [ended, older]) {
      const disk = await machine()
      const user = { clientCertificate: { pem: first.chain }, clientKey: { pem: first.key } }
      const text = encodeKubeconfig({
        server: 'https://api:6443',
        tlsServerName: 'kubernetes',
        user,
      }).reveal()
      await put(disk, kubeconfig, `# ours\n${text}`)
      const done = await mend(disk)
      assert.deepEqual(done, [`copy ${kubeconfig} to ${kubeconfig}${stamp}`, `write ${kubeconfig}`])
      const mended = await read(disk, kubeconfig)
      assert.match(mended, /^# ours\n[\s\S]*tls-server-name: kubernetes/)
      assert.ok(mended.includes(`client-certificate: ${current}`) && !mended.includes('-data'))
      assert.equal(await read(disk, `${kubeconfig}${stamp}`), `# ours\n${text}`)
    }
  })

  test('report 25: certificate and key of two managers, and half of kubeadm’s files, lead back to the store', async () => {
    for (const user of [
      { clientCertificate: { pem: newer.chain }, clientKey: { pem: older.key } },
      {
        clientCertificate: { file: '/etc/kubernetes/pki/gone.crt' },
        clientKey: { file: '/etc/kubernetes/pki/gone.key' },
      },
    ]) {
      const disk = await machine()
      await put(disk, kubeconfig, encodeKubeconfig({ server: 'https://api:6443', user }).reveal())
      await mend(disk)
      assert.ok((await read(disk, kubeconfig)).includes(`client-key: ${current}`))
    }
  })

  test('report 22: with nothing usable and no bootstrap kubeconfig nothing is touched, and the way out is named', async () => {
    const disk = await machine()
    for (const name of await disk.list(pki)) await disk.remove(`${pki}/${name}`)
    const [repair, ...others] = await plan(disk)
    assert.deepEqual([repair?.operations, others], [[], []])
    assert.match(repair?.advice ?? '', /rollcall node rebootstrap/)
  })

  test('a kubeconfig with a plugin or a token is none of its business', async () => {
    const disk = await machine()
    await put(
      disk,
      kubeconfig,
      encodeKubeconfig({
        server: 'https://a',
        user: {
          exec: {
            apiVersion: 'client.authentication.k8s.io/v1',
            command: '/x',
            interactiveMode: 'Never',
          },
        },
      }).reveal(),
    )
    assert.deepEqual(await plan(disk), [])
  })
})
