import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { startDemoLoad } from '../src/cluster/demo/demo-load.ts'
import { followingClient } from '../src/cluster/demo/following-client.ts'
import { runRotation } from '../src/cluster/demo/roll.ts'
import { findRunningUp } from '../src/cluster/demo/running-up.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { trustRoles } from '../src/kube/rollcall/trust-bundle.ts'
import { type Lease, resources } from '../src/kube/types.ts'
import { parseStat } from '../src/pods/state/process-identity.ts'
import { decodeTrustReport, instanceName, trustReportAnnotation } from '../src/trust/trust-report.ts'
import { formatName } from '../src/x509/name.ts'
import { heldPairs } from './support/data-folder.ts'
import { eventually } from './support/eventually.ts'
import { openssl } from './support/openssl.ts'
import { runRollcall } from './support/rollcall-process.ts'
import { upDuringTests } from './support/running-up.ts'

const up = upDuringTests()
const { admin } = up

const ca = (...args: string[]) => runRollcall(['ca', ...args, '--kubeconfig', admin])

/** Issuers of the nodes' client certificates, each once. */
const issuers = () =>
  new Set(
    heldPairs(up.path).flatMap(({ kind, certificate }) =>
      kind === 'kubelet-client' ? formatName(certificate.issuer) : [],
    ),
  )

/** Verdict of whoever is no user, of a role, when each has proven the CA that comes next; undefined until then. */
async function allHaveProvenTheNext(role: string) {
  const { code, stdout } = await ca('readiness', role, '-o', 'json')
  const { consumers, total } = JSON.parse(stdout) as {
    consumers: { id: string; verdict: string }[]
    total: number
  }
  const proven = consumers.filter(({ id, verdict }) => !id.startsWith('user/') && verdict === 'Proven')
  return proven.length === 6 ? { code, total } : undefined
}

test('ca readiness: with the next CA trusted in advance everybody has proven it before a rotation begins', async () => {
  for (const role of ['client', 'apiserver-serving']) {
    const found = await eventually(`every agent has proven the next CA of ${role}`, () =>
      allHaveProvenTheNext(role),
    )
    if (role === 'client') assert.deepEqual(found, { code: 0, total: 6 })
  }
  const { stdout } = await ca('readiness', 'client')
  assert.match(stdout, /^roll today and you lose none of 6: every consumer has answered\n/)
})

test('the API tells in its own Lease by which bundles it judges, and which process it is', async () => {
  const { client, transport } = followingClient(admin, 'rollcall')
  const target = { name: 'rollcall-apiserver', namespace: 'kube-system' }
  const { metadata, spec } = await client.get<Lease>(resources.leases, target)
  transport.closeConnections()
  const reports = decodeTrustReport(metadata.annotations?.[trustReportAnnotation]) ?? []
  assert.deepEqual(
    reports.map(({ role, subject, generation, evidence }) => [role, subject, generation, evidence]),
    trustRoles.map(role => [role, 'apiserver', 1, 'memory']),
  )
  const [report] = reports
  assert.ok(report)
  assert.equal(spec?.holderIdentity, instanceName(report.instance))
  const { pid, startTicks } = report.instance
  assert.equal(Number(parseStat(readFileSync(`/proc/${pid}/stat`, 'utf8'))?.startTicks), startTicks)
})

test('a rollback in the middle of the renewal: every leaf is of the old CA again, and the rotation ends', {
  timeout: 120_000,
}, async () => {
  const begun = Promise.withResolvers<void>()
  const rotation = runRotation(findRunningUp(up.path), 'client', {
    onStep: (_, { to }) => {
      if (to === 'Reissuing') begun.resolve()
    },
    onExcluded: () => {},
  })
  await begun.promise
  await eventually('somebody has renewed', () => issuers().has('CN=rollcall-client-ca-2'))
  assert.equal((await ca('rollback', 'demo-client-2')).code, 0)
  const { phase, blockers } = await rotation
  assert.equal(phase, 'RolledBack', `${blockers}`)
  assert.deepEqual([...issuers()], ['CN=kubernetes'])
})

test('nodes with the disks of before three rollovers in a row catch up by what their trust roots signed', {
  timeout: 180_000,
}, async () => {
  const { fleetProcess } = findRunningUp(up.path)
  const nodes = ['worker-1', 'worker-2', 'worker-3'].map(node => join(up.path, 'nodes', node))
  const kept = nodes.map((node, index) => ({ node, copy: join(up.path, `before-${index}`) }))
  const parts = ['trust', 'kubeconfig']
  for (const { node, copy } of kept)
    for (const part of parts) cpSync(join(node, part), join(copy, part), { recursive: true })
  // They trust the CA after theirs in advance: only the second would take them by surprise.
  for (const to of [2, 3, 4]) {
    const rotation = runRotation(findRunningUp(up.path), 'apiserver-serving', quiet)
    // Our own command is a consumer too, which proves itself by coming again.
    const { phase, blockers } = await withCompany(rotation, () => ca('status'))
    assert.equal(phase, 'Done', `${blockers}`)
    assert.equal(await servedBy(), `rollcall-apiserver-serving-ca-${to}`)
  }
  process.kill(fleetProcess, 'SIGSTOP')
  for (const { node, copy } of kept)
    for (const part of parts) {
      rmSync(join(node, part), { recursive: true })
      cpSync(join(copy, part), join(node, part), { recursive: true })
    }
  // Started anew by `up` it trusts nobody who serves now.
  process.kill(fleetProcess, 'SIGKILL')
  const log = join(up.path, 'rollcall.log')
  await eventually('all three have caught up', () => {
    const lines = readFileSync(log, 'utf8')
      .split('\n')
      .filter(line => line.includes('caught up with a trust bundle'))
    return lines.filter(line => line.includes('apiserver-serving')).length >= 3
  })
  await eventually('every node answers', async () => {
    const { stdout } = await runRollcall(['trust', 'ls', '--kubeconfig', admin])
    return (stdout.match(/^agent\/.* Live .*apiserver-serving L\d bundle 1\d/gm) ?? []).length === 3
  })
})

/** Does the work over and over until the other is done. */
async function withCompany<T>(other: Promise<T>, work: () => Promise<unknown>): Promise<T> {
  let over = false
  const done = other.finally(() => {
    over = true
  })
  while (!over) await work()
  return done
}

const quiet = { onStep() {}, onExcluded() {} }

/** Name of the CA whose certificate the API shows. */
async function servedBy(): Promise<string | undefined> {
  const server = new URL(selectContext(parseKubeconfig(readFileSync(admin, 'utf8'), admin)).cluster.server)
  const { output } = await openssl(['s_client', '-connect', server.host], '')
  return /issuer=.*CN ?= ?(\S+)/.exec(output)?.[1]
}

test('ca emergency of the CA that the API shows: the next one is trusted already, so nobody is lost and no request fails', {
  timeout: 120_000,
}, async () => {
  const nodes = ['worker-1', 'worker-2', 'worker-3']
  // The rotation before has just ended: until the CA after its own is everywhere, an emergency would cost requests.
  await eventually(
    'everybody has proven the next CA',
    () => allHaveProvenTheNext('apiserver-serving'),
    60_000,
  )
  const load = startDemoLoad(findRunningUp(up.path), nodes)
  const { code, stdout, stderr } = await ca('emergency', 'apiserver-serving', '--confirm', 'it was stolen')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^apiserver-serving-5 begins: CA 4 of apiserver-serving gives way to CA 5/)
  try {
    const isShown = async () => (await servedBy()) === 'rollcall-apiserver-serving-ca-5'
    await eventually('the next CA is shown', isShown)
    // Programs of this test that have ended are waited for still.
    await eventually('every node has dropped the stolen one', async () => {
      const { stdout: text } = await ca('status', 'apiserver-serving-5')
      const [, waiting] = /EmergencyReissue\n.*NARROWED \d+\/\d+(.*?)\n/s.exec(text) ?? []
      return waiting !== undefined && !/agent|kubelet/.test(waiting)
    })
    assert.equal(await load.answering(), 3)
  } finally {
    await load.stop()
  }
  const { requests, failed, reasons, lost } = load.report()
  assert.deepEqual([failed, reasons, lost], [0, [], []])
  assert.ok(requests > 30, `${requests}`)
})

test('ca emergency: the stolen CA is refused at once, the control plane keeps its way in, and all nodes join anew', {
  timeout: 120_000,
}, async () => {
  const { code, stdout, stderr } = await ca('emergency', 'client', '--confirm', 'the key was stolen')
  assert.equal(code, 0, stderr)
  assert.match(stdout, /^client-3 begins: CA 1 of client gives way to CA 3/)
  await eventually(
    'every node has a certificate of the new CA',
    () => {
      const all = issuers()
      return all.size === 1 && all.has('CN=rollcall-client-ca-3')
    },
    60_000,
  )
  const status = await eventually(
    'the old CA is refused, everybody has narrowed',
    async () => {
      const { stdout: text, stderr: problem } = await ca('status', 'client-3')
      assert.notEqual(text, '', `the administrator was let in, and now: ${problem}`)
      return /EmergencyReissue\n/.test(text) && /open {3}NARROWED 7\/7/.test(text) ? text : undefined
    },
    60_000,
  )
  assert.match(status, /Freezing -> EmergencyDistrust: GatesOpen/)
  const nodes = await runRollcall(['nodes', '--kubeconfig', admin])
  assert.equal(nodes.code, 0, nodes.stderr)
})
