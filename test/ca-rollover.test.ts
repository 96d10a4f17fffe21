import assert from 'node:assert/strict'
import { cpSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runRotation } from '../src/cluster/demo/roll.ts'
import { findRunningUp } from '../src/cluster/demo/running-up.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
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

test('ca readiness: with the next CA trusted in advance everybody has proven it before a rotation begins', async () => {
  for (const role of ['client', 'apiserver-serving']) {
    const found = await eventually(`every agent has proven the next CA of ${role}`, async () => {
      const { code, stdout } = await ca('readiness', role, '-o', 'json')
      const { consumers, total } = JSON.parse(stdout) as {
        consumers: { id: string; verdict: string }[]
        total: number
      }
      const proven = consumers.filter(({ id, verdict }) => !id.startsWith('user/') && verdict === 'Proven')
      return proven.length === 6 ? { code, total } : undefined
    })
    if (role === 'client') assert.deepEqual(found, { code: 0, total: 6 })
  }
  const { stdout } = await ca('readiness', 'client')
  assert.match(stdout, /^roll today and you lose none of 6: every consumer has answered\n/)
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

test('nodes with the disks of before two rollovers in a row catch up by what their trust roots signed', {
  timeout: 180_000,
}, async () => {
  const { fleetProcess } = findRunningUp(up.path)
  const nodes = ['worker-1', 'worker-2', 'worker-3'].map(node => join(up.path, 'nodes', node))
  const kept = nodes.map((node, index) => ({ node, copy: join(up.path, `before-${index}`) }))
  const parts = ['trust', 'kubeconfig']
  for (const { node, copy } of kept)
    for (const part of parts) cpSync(join(node, part), join(copy, part), { recursive: true })
  // They trust the CA after theirs in advance: only the second would take them by surprise.
  for (const to of [2, 3]) {
    const { phase, blockers } = await runRotation(findRunningUp(up.path), 'apiserver-serving', quiet)
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

const quiet = { onStep() {}, onExcluded() {} }

/** Name of the CA whose certificate the API shows. */
async function servedBy(): Promise<string | undefined> {
  const server = new URL(selectContext(parseKubeconfig(readFileSync(admin, 'utf8'), admin)).cluster.server)
  const { output } = await openssl(['s_client', '-connect', server.host], '')
  return /issuer=.*CN ?= ?(\S+)/.exec(output)?.[1]
}

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
