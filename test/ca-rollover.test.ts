import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { runRotation } from '../src/cluster/demo/roll.ts'
import { findRunningUp } from '../src/cluster/demo/running-up.ts'
import { formatName } from '../src/x509/name.ts'
import { heldPairs } from './support/data-folder.ts'
import { eventually } from './support/eventually.ts'
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

test('ca readiness names every consumer, and says that an agent is there for each', async () => {
  const found = await eventually('every agent has reported', async () => {
    const { code, stdout } = await ca('readiness', 'client', '-o', 'json')
    const { consumers, total } = JSON.parse(stdout) as {
      consumers: { id: string; verdict: string }[]
      total: number
    }
    const reported = consumers.filter(({ verdict }) => verdict === 'WillLoad')
    return reported.length === 6 ? { code, total, consumers } : undefined
  })
  assert.deepEqual([found.code, found.total], [0, 6])
  const { stdout } = await ca('readiness', 'client')
  assert.match(stdout, /^roll today and you lose 6 of 6: agent\/worker-1, /)
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

test('nodes that were away through a rollover, left behind by name, catch up by what their trust roots signed', {
  timeout: 120_000,
}, async () => {
  const { fleetProcess } = findRunningUp(up.path)
  process.kill(fleetProcess, 'SIGSTOP')
  let told = false
  const rotation = runRotation(findRunningUp(up.path), 'apiserver-serving', {
    onStep: (_, { to }) => {
      if (to === 'Proving' && !told) {
        told = true
        void leave()
      }
    },
    onExcluded: () => {},
  })
  async function leave(): Promise<void> {
    for (const node of ['worker-1', 'worker-2', 'worker-3'])
      for (const kind of ['agent', 'kubelet'])
        await ca('exclude', 'demo-apiserver-serving-2', `${kind}/${node}`, '--reason', 'away')
  }
  const { phase, blockers } = await rotation
  // Started anew by `up`, with the bundle of before on the disk: it trusts nobody who serves now.
  process.kill(fleetProcess, 'SIGKILL')
  assert.equal(phase, 'Done', `${blockers}`)
  const log = join(up.path, 'rollcall.log')
  await eventually('all three have caught up', () => {
    const lines = readFileSync(log, 'utf8')
      .split('\n')
      .filter(line => line.includes('caught up with a trust bundle'))
    return lines.filter(line => line.includes('apiserver-serving')).length >= 3
  })
  await eventually('every node answers', async () => {
    const { stdout } = await runRollcall(['trust', 'ls', '--kubeconfig', admin])
    return (stdout.match(/^agent\/.* Live .*apiserver-serving L\d bundle [4-9]/gm) ?? []).length === 3
  })
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
