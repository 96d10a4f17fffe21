import { join } from 'node:path'
import { RollcallError } from '../../errors.ts'
import type { fleetNode } from '../../fleet/fleet-address.ts'
import { requestCertificate } from '../../join/request-certificate.ts'
import { type CertificateTemplate, clientTemplate, servingTemplate } from '../../join/template.ts'
import { ApiStatusError, type KubeClient } from '../../kube/client.ts'
import { type KubeEvent, resources } from '../../kube/types.ts'
import { hostPorts } from '../host-ports.ts'
import { apiServiceAddress } from '../identities.ts'
import { clientOf, type RunningUpFiles } from './running-up.ts'

export interface Theft {
  /** What the thief asks for, for people. */
  attempt: string
  template: CertificateTemplate
}

export interface TheftResult {
  attempt: string
  issued: boolean
  /** Who refused and why, in the refuser's own words. */
  answer: string
}

const algorithm = 'ECDSA-P256'
/** Milliseconds; verdicts are there within one second. */
const patience = 5000

function serving(thief: string, address: string): CertificateTemplate {
  const addresses = [
    { type: 'Hostname', address: thief },
    { type: 'InternalIP', address },
  ]
  const template = servingTemplate(thief, addresses, algorithm)
  if (!template) throw new RangeError(`${address} makes no serving template`)
  return template
}

/** What somebody who became root on the node `thief` would try with its certificate. */
function thefts(thief: string, victim: { name: string; address: string }): Theft[] {
  return [
    {
      attempt: `a serving certificate for ${apiServiceAddress}, the address of the API inside the cluster`,
      template: serving(thief, apiServiceAddress),
    },
    {
      attempt: `a serving certificate for ${victim.address}, the address of ${victim.name}`,
      template: serving(thief, victim.address),
    },
    {
      attempt: `a client certificate in the name of ${victim.name}`,
      template: clientTemplate(victim.name, algorithm),
    },
  ]
}

/** Uses the stolen certificate of worker-N for each theft against the running API. `onResult` is told as they end. */
export async function runThief(
  up: RunningUpFiles,
  nodes: { thief: string; victim: ReturnType<typeof fleetNode> },
  onResult: (result: TheftResult) => void,
): Promise<void> {
  const stolen = await clientOf(join(up.paths.nodes, nodes.thief, 'kubeconfig'))
  const admin = await clientOf(up.paths.adminKubeconfig)
  try {
    for (const theft of thefts(nodes.thief, nodes.victim)) {
      const { clock, random } = hostPorts
      const answer = await requestCertificate({
        template: theft.template,
        keyAlgorithm: algorithm,
        client: stolen.client,
        clock,
        random,
        patience,
      }).then(
        issued => ({ issued: true, answer: `ISSUED as ${issued.requestName}` }),
        async (error: unknown) => ({ issued: false, answer: await refusal(error, admin.client) }),
      )
      onResult({ attempt: theft.attempt, ...answer })
    }
  } finally {
    stolen.transport.closeConnections()
    admin.transport.closeConnections()
  }
}

/**
 * A refusal is told in its own words; anything else (no connection, a full disk, a time-out) is no refusal and is thrown.
 * A node that was denied again and again gets no answer for a while: why is told by an Event then.
 */
async function refusal(error: unknown, admin: KubeClient): Promise<string> {
  if (error instanceof ApiStatusError && error.status.code === 403) return error.message
  if (!(error instanceof RollcallError)) throw error
  if (error.code === 'CSR_DENIED') return error.message
  if (error.code !== 'CSR_TIMEOUT') throw error
  const name = String(error.details?.name)
  const { items } = await admin.list<KubeEvent>(resources.events, {
    namespace: 'default',
    fieldSelector: `involvedObject.name=${name}`,
  })
  const [event] = items
  if (!event) throw error
  return `CertificateSigningRequest "${name}" is left without an answer: ${event.reason}: ${event.message}`
}
