import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { followingClient } from '../src/cluster/demo/following-client.ts'
import { runRotation } from '../src/cluster/demo/roll.ts'
import { findRunningUp } from '../src/cluster/demo/running-up.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { type CARotationObject, caRotation, usualPhases } from '../src/kube/rollcall/ca-rotation.ts'
import { firstForged, type HistoryEntry } from '../src/rollover/history.ts'
import { formatName } from '../src/x509/name.ts'
import { heldPairs } from './support/data-folder.ts'
import { eventually } from './support/eventually.ts'
import { openssl } from './support/openssl.ts'
import { runRollcall } from './support/rollcall-process.ts'
import { upDuringTests } from './support/running-up.ts'

const up = upDuringTests()
const { admin } = up

/** What openssl says of the API's certificate, with these CAs alone: 0 is good. */
async function verifiedWith(caFile: string): Promise<string> {
  const server = new URL(selectContext(parseKubeconfig(readFileSync(admin, 'utf8'), admin)).cluster.server)
  const { output } = await openssl(
    ['s_client', '-connect', server.host, '-CAfile', caFile, '-verify_return_error'],
    '',
  )
  return /Verify return code: (\d+)/.exec(output)?.[1] ?? /error:num=(\d+)/.exec(output)?.[1] ?? output
}

/** The kubeconfig, trusting these CAs instead. */
function withAuthority(kubeconfig: string, pem: string): string {
  const data = Buffer.from(pem).toString('base64')
  return kubeconfig.replace(/certificate-authority-data: \S+/, `certificate-authority-data: ${data}`)
}

const oldCa = join(up.path, 'pki/ca.crt')
const newCa = join(up.path, 'ca/ca-apiserver-serving-2.crt')

test('demo roll: two CAs change under load, everybody answers, and what is served, held and refused is the new one', {
  timeout: 180_000,
}, async () => {
  const keptAdmin = readFileSync(admin, 'utf8')
  assert.equal(await verifiedWith(oldCa), '0')
  const { code, stdout, stderr } = await runRollcall(['demo', 'roll', '--dir', up.path])
  assert.equal(code, 0, stdout + stderr)
  assert.match(stdout, /\n3\/3 answer, 0 failed requests of \d{3,}, 0 nodes lost\n$/)

  assert.equal(await verifiedWith(newCa), '0')
  assert.notEqual(await verifiedWith(oldCa), '0', 'who trusts the old CA alone refuses what is served')
  for (const { kind, node, certificate } of heldPairs(up.path)) {
    const issuer = kind === 'kubelet-client' ? 'CN=rollcall-client-ca-2' : 'CN=kubernetes'
    assert.equal(formatName(certificate.issuer), issuer, `${node} ${kind}`)
  }
  const kept = join(up.path, 'kept.kubeconfig')
  writeFileSync(kept, `${withAuthority(keptAdmin, readFileSync(newCa, 'utf8'))}`, { mode: 0o600 })
  const former = await runRollcall(['nodes', '--kubeconfig', kept])
  assert.equal(former.code, 1, 'the certificate of before, by the CA that was dropped, is nobody')
  assert.match(former.stderr, /Unauthorized/)
  const { client, transport } = followingClient(admin, 'test')
  const rotations = await client.list<CARotationObject>(caRotation.ref)
  transport.closeConnections()
  assert.deepEqual(
    rotations.items.map(({ status }) => status?.phase),
    ['Done', 'Done'],
  )
  for (const { metadata, status } of rotations.items) {
    const { history = [] } = (status?.state ?? {}) as { history?: HistoryEntry[] }
    assert.ok(history.length > 5)
    assert.equal(firstForged(history, metadata.uid ?? ''), undefined)
  }
})

test('a gate waits for proof: while no agent answers the old chain is served, and each is named; then it goes on', {
  timeout: 180_000,
}, async () => {
  const running = findRunningUp(up.path)
  const { client, transport } = followingClient(admin, 'test-watcher')
  process.kill(running.fleetProcess, 'SIGSTOP')
  const steps: string[] = []
  const rotation = runRotation(running, 'apiserver-serving', {
    onStep: (_, { to }) => steps.push(to),
    onExcluded: () => {},
    // CA 3 is trusted in advance, and everybody may have proven that already.
    to: 4,
  })
  try {
    const blockers = await eventually('all three agents are named', async () => {
      const { items } = await client.list<CARotationObject>(caRotation.ref)
      const mine = items.find(({ spec }) => spec.role === 'apiserver-serving' && spec.to === 4)
      const named = mine?.status?.blockers?.filter(text => text.startsWith('Unproven: agent/')) ?? []
      return mine?.status?.phase === 'Proving' && named.length === 3 ? named : undefined
    })
    for (const name of ['worker-1', 'worker-2', 'worker-3'])
      assert.ok(
        blockers?.some(text => text.startsWith(`Unproven: agent/${name} `)),
        `${blockers}`,
      )
    assert.equal(await verifiedWith(newCa), '0', 'the chain of before is served')
  } finally {
    process.kill(running.fleetProcess, 'SIGCONT')
  }
  const { phase, blockers } = await rotation
  transport.closeConnections()
  assert.equal(phase, 'Done', `${blockers}`)
  assert.deepEqual(
    steps.filter((step, index) => step !== steps[index - 1]),
    usualPhases.slice(1),
  )
  assert.notEqual(await verifiedWith(newCa), '0')
})

test('up started again serves, trusts and signs with the CAs it rolled to, and the nodes come back to it', {
  timeout: 120_000,
}, async () => {
  assert.equal(await up.stop(), 0)
  await up.startAgain()
  assert.equal(await verifiedWith(join(up.path, 'ca/ca-apiserver-serving-4.crt')), '0')
  assert.notEqual(await verifiedWith(oldCa), '0')
})

test('demo lockup: nobody is asked, and all nodes are lost until the old chain is served again', {
  timeout: 240_000,
}, async () => {
  const { code, stdout, stderr } = await runRollcall(['demo', 'lockup', '--dir', up.path])
  assert.equal(code, 0, stdout + stderr)
  const [, lost, failed] =
    /\n(\d+) nodes lost, (\d+) failed requests of \d+; after the rollback 3\/3 are back, 3\/3 answer\n$/.exec(
      stdout,
    ) ?? []
  assert.equal(lost, '3', stdout)
  assert.ok(Number(failed) > 0, stdout)
})
