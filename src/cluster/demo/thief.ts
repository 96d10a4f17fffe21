import { join } from 'node:path'
import { RollcallError } from '../../errors.ts'
import type { fleetNode } from '../../fleet/fleet-address.ts'
import { requestCertificate } from '../../join/request-certificate.ts'
import { type CertificateTemplate, clientTemplate, servingTemplate } from '../../join/template.ts'
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
  try {
    for (const theft of thefts(nodes.thief, nodes.victim)) {
      const { clock, random } = hostPorts
      const answer = await requestCertificate({
        template: theft.template,
        keyAlgorithm: algorithm,
        client: stolen.client,
        clock,
        random,
        patience: 20_000,
      }).then(
        issued => ({ issued: true, answer: `ISSUED as ${issued.requestName}` }),
        (error: unknown) => ({ issued: false, answer: refusal(error) }),
      )
      onResult({ attempt: theft.attempt, ...answer })
    }
  } finally {
    stolen.transport.closeConnections()
  }
}

/** A refusal is told in its own words; anything else (no connection, a time-out) is no refusal and is thrown. */
function refusal(error: unknown): string {
  if (error instanceof RollcallError && (error.code === 'CSR_DENIED' || error.code === 'API_STATUS'))
    return error.message
  throw error
}
