/** `rollcall controller` judges and signs on a cluster that is not ours, `rollcall agent` joins it: bodies for any API server. */
import assert from 'node:assert/strict'
import { X509Certificate } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { eventually } from '../support/eventually.ts'
import { type RollcallProcess, runRollcall, startRollcall } from '../support/rollcall-process.ts'

export interface ForeignCluster {
  /** Of an administrator. */
  kubeconfig: string
  /** The CA that signs clients and kubelets, as kubeadm has one for all. */
  caCertificate: string
  caKey: string
  /** For files. */
  folder: string
}

const address = '127.0.9.1'
/** Loopback is reserved unless the policy says otherwise. */
const policy = {
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'CertificatePolicy',
  metadata: { name: 'default' },
  spec: { evidence: 'NodeStatus', allowedRanges: [`${address}/32`] },
}

/** Starts both, and checks what the node holds and that it renews when it is told to. The programs are added to `running`. */
export async function joinsAndRenews(cluster: ForeignCluster, running: RollcallProcess[]): Promise<void> {
  const { kubeconfig, caCertificate, caKey, folder } = cluster
  const at = (name: string) => join(folder, name)
  writeFileSync(at('policy.yaml'), stringify(policy))
  const signing = ['--signing-cert', caCertificate, '--signing-key', caKey, '--cert-lifetime', '1h']
  const flags = ['--kubeconfig', kubeconfig, '--policy', at('policy.yaml'), '--no-leader-election']
  running.push(startRollcall(['controller', ...flags, ...signing, '--root-ca-file', caCertificate]))
  // Published by the controller, so that the token's kubeconfig can say whom to trust.
  const bootstrap = await eventually('a token is made', async () => {
    const { code, stdout } = await runRollcall([
      'token',
      'create',
      '--print-kubeconfig',
      '--kubeconfig',
      kubeconfig,
    ])
    return code === 0 && stdout
  })
  writeFileSync(at('bootstrap.kubeconfig'), bootstrap, { mode: 0o600 })
  const agent = startRollcall(
    [
      ['agent', '--node', 'worker-1', '--node-ip', address, '--address', address, '--port', '0'],
      ['--bootstrap-kubeconfig', at('bootstrap.kubeconfig'), '--kubeconfig', at('node.kubeconfig')],
      ['--cert-dir', at('node-pki'), '--rotate-certificates', '--server-tls-bootstrap'],
    ].flat(),
  )
  running.push(agent)
  const held = (kind: string) => {
    try {
      return new X509Certificate(readFileSync(at(`node-pki/${kind}-current.pem`)))
    } catch {
      return undefined
    }
  }
  const kinds = ['kubelet-client', 'kubelet-server'] as const
  const serials = () => {
    const all = kinds.map(kind => held(kind)?.serialNumber)
    return all.every(serial => serial !== undefined) ? all : undefined
  }
  const before = await eventually('both certificates are held', serials, 90_000)
  const ca = new X509Certificate(readFileSync(caCertificate))
  for (const kind of kinds) assert.ok(held(kind)?.checkIssued(ca), kind)
  assert.equal(held('kubelet-server')?.checkIP(address), address)
  const { code, stdout, stderr } = await runRollcall(['renew', 'worker-1', '--kubeconfig', kubeconfig])
  assert.equal(code, 0, stdout + stderr)
  await eventually('both are new', () => {
    const now = serials()
    return now?.every((serial, index) => serial !== before[index])
  })
}
