import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, test } from 'node:test'
import { stringify } from 'yaml'
import { kubeadmBindings } from '../../src/cluster/seed-objects.ts'
import { createClient } from '../../src/kube/client.ts'
import { type CARotationObject, caRotation } from '../../src/kube/rollcall/ca-rotation.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import { parseCertificatesPem } from '../../src/x509/certificate.ts'
import { formatName } from '../../src/x509/name.ts'
import { connectionOf } from '../support/api-connection.ts'
import { eventually } from '../support/eventually.ts'
import {
  type RollcallProcess,
  runRollcall,
  startRollcall,
  temporaryFolder,
} from '../support/rollcall-process.ts'
import { definitionsAndPolicies } from './deploy.ts'
import { noAssets } from './folder.ts'
import { type KubeadmNode, kubeadmNode } from './kubeadm-node.ts'

const skip = noAssets('etcd', 'kube-apiserver', 'kube-controller-manager')
const folder = temporaryFolder()
const here = (name: string) => join(folder.path, name)
const running: RollcallProcess[] = []
let node: KubeadmNode | undefined
after(async () => {
  for (const program of running.toReversed()) await program.stop()
  await node?.stop()
  folder.remove()
})

const address = '127.0.9.2'
const policy = {
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'CertificatePolicy',
  metadata: { name: 'default' },
  spec: { evidence: 'NodeStatus', allowedRanges: [`${address}/32`] },
}
const timings = ['bridgeSoak=5s', 'quiet=5s', 'jitter=1s'].flatMap(one => ['--timing', one])

test('a kubeadm-shaped control plane of real programs is given new client and serving CAs, with at most the restarts that were named', {
  skip,
  timeout: 1_200_000,
}, async () => {
  node = await kubeadmNode(folder.path)
  const { root, pki, port, starts } = node
  const admin = join(root, 'admin.conf')
  await asAdministrator(admin, async client => {
    for (const { resource, object } of kubeadmBindings()) await client.create(resource, object)
    await definitionsAndPolicies(client)
  })
  writeFileSync(here('policy.yaml'), stringify(policy))
  writeFileSync(here('rollover.yaml'), rolloverFile(pki.file('ca.crt'), pki.file('ca.key'), port))
  const ben = await pki.kubeconfig('ben', node.url, 'ben', ['system:masters'])
  const controller = ['controller', '--kubeconfig', admin, '--policy', here('policy.yaml')]
  running.push(startRollcall([...controller, '--rollover', here('rollover.yaml')]))
  const token = await eventually('a token is made', async () => {
    const made = await runRollcall(['token', 'create', '--print-kubeconfig', '--kubeconfig', admin])
    return made.code === 0 && made.stdout
  })
  writeFileSync(here('bootstrap.kubeconfig'), token, { mode: 0o600 })
  await eventually('the trust roots are there', () => readFileSync(here('rollover/trust-roots'), 'utf8'))
  running.push(startAgent(root))

  const before = { ...starts }
  await rotated('client', admin, ben)
  assert.deepEqual(restarts(starts, before), { 'kube-apiserver': 1, 'kube-controller-manager': 3 })
  const between = { ...starts }
  await rotated('apiserver-serving', admin, ben)
  assert.deepEqual(restarts(starts, between), { 'kube-apiserver': 1, 'kube-controller-manager': 2 })
  const served = readFileSync(join(root, 'pki/rollcall/apiserver.crt'), 'utf8')
  const [leaf] = parseCertificatesPem(served)
  assert.equal(leaf && formatName(leaf.issuer), 'CN=rollcall-apiserver-serving-ca-2')
})

function rolloverFile(certificate: string, key: string, port: number): string {
  const authority = { certificate, key }
  return stringify({
    directory: here('rollover'),
    kubeadm: { nodes: ['cp-1'], port },
    authorities: { client: authority, 'apiserver-serving': authority },
    intervalSeconds: 1,
  })
}

function startAgent(root: string): RollcallProcess {
  return startRollcall(
    [
      ['agent', '--node', 'cp-1', '--node-ip', address, '--address', address, '--port', '0'],
      ['--bootstrap-kubeconfig', here('bootstrap.kubeconfig'), '--kubeconfig', here('agent.kubeconfig')],
      ['--cert-dir', here('agent-pki'), '--rotate-certificates', '--server-tls-bootstrap'],
      ['--trust-roots', here('rollover/trust-roots'), '--control-plane', '--kubernetes-dir', root],
      ['--control-plane-state', here('control-plane')],
    ].flat(),
  )
}

async function rotated(role: string, admin: string, ben: string): Promise<void> {
  const proofs = ['--proof', 'ControllerManager=2', '--proof', 'Scheduler=2']
  const begun = await runRollcall(['ca', 'start', role, ...timings, ...proofs, '--kubeconfig', admin])
  assert.equal(begun.code, 0, begun.stderr)
  const name = `${role}-2`
  const said = await runRollcall(['ca', 'ack', name, 'ledger', '--reason', 'none', '--kubeconfig', ben])
  assert.equal(said.code, 0, said.stderr)
  let last = ''
  await eventually(
    `${name} is done`,
    () =>
      asAdministrator(admin, async client => {
        const { status } = await client.get<CARotationObject>(caRotation.ref, { name })
        last = `${status?.phase}: ${status?.blockers?.join('; ')}`
        return status?.phase === 'Done'
      }),
    // Files are read again once a minute by who does not see them change.
    480_000,
  ).catch(error => assert.fail(`${error.message}; it is ${last}`))
}

/** By the kubeconfig as it is now: a rotation writes it anew. */
async function asAdministrator<T>(
  kubeconfig: string,
  run: (client: ReturnType<typeof createClient>) => Promise<T>,
): Promise<T> {
  const transport = connectUndici(await connectionOf(kubeconfig))
  try {
    return await run(createClient(transport))
  } finally {
    transport.closeConnections()
  }
}

function restarts(now: Record<string, number>, before: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(now).map(([name, times]) => [name, times - (before[name] ?? 0)]))
}
