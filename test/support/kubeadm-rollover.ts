/** An agent and a controller on a control plane of kubeadm, and whole rotations there: bodies for any programs. */
import assert from 'node:assert/strict'
import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { createClient } from '../../src/kube/client.ts'
import { type CARotationObject, caRotation } from '../../src/kube/rollcall/ca-rotation.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import type { KubeadmNode } from '../assets/kubeadm-node.ts'
import { connectionOf } from './api-connection.ts'
import { eventually } from './eventually.ts'
import { type RollcallProcess, runRollcall, startRollcall } from './rollcall-process.ts'

export interface KubeadmRollover {
  /** Begins a rotation of the role from CA 1 to 2, vouches for the ledger, and waits until it is done. */
  rotated(role: string): Promise<void>
  /** Components that were started anew since then. */
  restartsSince(before: Record<string, number>): Record<string, number>
}

/** Where kube-apiserver answers on the node, too. */
const address = '127.0.0.1'
const policy = {
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'CertificatePolicy',
  metadata: { name: 'default' },
  spec: { evidence: 'NodeStatus', allowedRanges: [`${address}/32`] },
}
const timings = ['bridgeSoak=1s', 'quiet=1s', 'jitter=1s'].flatMap(one => ['--timing', one])
const proofs = ['--proof', 'ControllerManager=2', '--proof', 'Scheduler=2']

/** `stops` is given what ends the programs. */
export async function kubeadmRollover(
  { root, pki, port, url, starts }: KubeadmNode,
  folder: string,
  stops: (() => Promise<unknown>)[],
): Promise<KubeadmRollover> {
  const here = (name: string) => join(folder, name)
  const admin = join(root, 'admin.conf')
  const running: RollcallProcess[] = []
  const run = (words: string[]) => {
    const program = startRollcall(words)
    running.push(program)
    stops.push(() => program.stop())
  }
  // kubeadm has one for both roles; the file takes no aliases of YAML.
  const authority = () => ({ certificate: pki.file('ca.crt'), key: pki.file('ca.key') })
  const file = {
    directory: here('rollover'),
    kubeadm: { nodes: ['cp-1'], port },
    authorities: { client: authority(), 'apiserver-serving': authority() },
    intervalSeconds: 0.5,
  }
  writeFileSync(here('policy.yaml'), stringify(policy))
  writeFileSync(here('rollover.yaml'), stringify(file))
  const controller = ['controller', '--kubeconfig', admin, '--policy', here('policy.yaml')]
  run([...controller, '--rollover', here('rollover.yaml')])
  const token = await eventually('a token is made', async () => {
    const made = await runRollcall(['token', 'create', '--print-kubeconfig', '--kubeconfig', admin])
    return made.code === 0 && made.stdout
  })
  writeFileSync(here('bootstrap.kubeconfig'), token, { mode: 0o600 })
  const roots = here('rollover/trust-roots')
  const said = () => running.map(program => program.stderr()).join('\n')
  await eventually('the trust roots are there', () => existsSync(roots)).catch(error =>
    assert.fail(`${error.message}\n${said()}`),
  )
  run(
    [
      ['agent', '--node', 'cp-1', '--node-ip', address, '--address', address, '--port', '0'],
      ['--bootstrap-kubeconfig', here('bootstrap.kubeconfig'), '--kubeconfig', here('agent/kubeconfig')],
      ['--cert-dir', here('agent/pki'), '--rotate-certificates', '--server-tls-bootstrap'],
      ['--trust-roots', roots, '--control-plane', '--kubernetes-dir', root],
      ['--control-plane-state', here('agent/control-plane')],
    ].flat(),
  )

  async function ca(kubeconfig: string, ...words: string[]): Promise<void> {
    const { code, stderr } = await runRollcall(['ca', ...words, '--kubeconfig', kubeconfig])
    assert.equal(code, 0, stderr)
  }

  async function rotated(role: string): Promise<void> {
    const name = `${role}-2`
    await ca(admin, 'start', role, ...timings, ...proofs)
    // By the administrator's words alone nothing is vouched for.
    const ben = await pki.kubeconfig('ben', url, 'ben', ['system:masters'])
    if (role === 'client') await ca(ben, 'ack', name, 'ledger', '--reason', 'none')
    let last = ''
    await eventually(
      `${name} is done`,
      async () => {
        const transport = connectUndici(await connectionOf(admin))
        try {
          const { status } = await createClient(transport).get<CARotationObject>(caRotation.ref, { name })
          last = `${status?.phase}: ${status?.blockers?.join('; ')}`
          return status?.phase === 'Done'
        } catch {
          return false // its kubeconfig is written anew, and API servers are started anew, meanwhile
        } finally {
          transport.closeConnections()
        }
      },
      480_000,
    ).catch(error => assert.fail(`${error.message}; it is ${last}\n${said()}`))
  }

  return {
    rotated,
    restartsSince: before =>
      Object.fromEntries(Object.entries(starts).map(([name, times]) => [name, times - (before[name] ?? 0)])),
  }
}
