/** `rollcall controller` as a process against any API server, asked case after case. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { stringify } from 'yaml'
import type { CertificateSigningRequest } from '../../../src/kube/types.ts'
import { eventually } from '../../support/eventually.ts'
import { type RollcallProcess, startRollcall } from '../../support/rollcall-process.ts'
import { csrs, nodes } from '../cases/objects-of.ts'
import type { Wire } from '../wire.ts'
import { type ApproverCase, nodeAddresses, requestOf } from './cases.ts'

const policy = {
  apiVersion: 'rollcall.dev/v1alpha1',
  kind: 'CertificatePolicy',
  metadata: { name: 'default' },
  spec: { evidence: 'NodeStatus', serviceRanges: ['10.96.0.0/16'], clusterDomain: 'cluster.local' },
}

const json = { 'content-type': 'application/json' }
const bytes = (value: object) => Buffer.from(JSON.stringify(value))

/** The approver alone, with a policy in a file of `folder`, and the Nodes that the cases are about. */
export async function startApprover(
  wire: Wire,
  kubeconfig: string,
  folder: string,
): Promise<RollcallProcess> {
  for (const [name, addresses] of Object.entries(nodeAddresses)) {
    const list = Object.entries(addresses).map(([type, address]) => ({ type, address }))
    const node = { apiVersion: 'v1', kind: 'Node', metadata: { name }, status: { addresses: list } }
    const { status } = await wire.send({ method: 'POST', url: nodes, headers: json, body: bytes(node) })
    if (status !== 201) throw new Error(`node ${name}: ${status}`)
  }
  const file = join(folder, 'policy.yaml')
  writeFileSync(file, stringify(policy))
  const flags = ['--kubeconfig', kubeconfig, '--policy', file, '--only', 'approval', '--no-leader-election']
  return startRollcall(['controller', ...flags])
}

/** What is decided about one request, as `OUTCOME REASON`. */
export async function decisionOf(wire: Wire, one: ApproverCase, name: string): Promise<string> {
  const body = bytes(await requestOf(one, name))
  const { status, body: answer } = await wire.send({
    as: one.as,
    method: 'POST',
    url: csrs,
    headers: json,
    body,
  })
  if (status !== 201) return `${status} ${JSON.stringify(answer)}`
  return eventually(`${one.title} is decided`, async () => {
    const { body: seen } = await wire.send({ method: 'GET', url: `${csrs}/${name}` })
    const [condition] = (seen as CertificateSigningRequest).status?.conditions ?? []
    return condition && `${condition.type} ${condition.reason}`
  })
}
