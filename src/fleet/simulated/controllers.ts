import type { ApprovalPolicy } from '../../approve/policy.ts'
import { startControllers } from '../../controller/start-controllers.ts'
import { createClient } from '../../kube/client.ts'
import { signerNames } from '../../kube/types.ts'
import { apiServer, type Foundation } from './foundation.ts'
import type { Machine } from './machine.ts'
import type { Network } from './network.ts'

export interface SimulatedControllersOptions {
  machine: Machine
  network: Network
  foundation: Foundation
  approvalPolicy: ApprovalPolicy
  certificateLifetimeSeconds: number
  watchTimeoutSeconds?: number
}

/** The machine that approves, signs and cleans; it keeps nothing on its disk. */
export class SimulatedControllers {
  readonly machine: Machine
  readonly #options: SimulatedControllersOptions

  constructor(options: SimulatedControllersOptions) {
    this.machine = options.machine
    this.#options = options
  }

  cutPower(): void {
    this.machine.cutPower()
  }

  start(): void {
    const { machine, network, foundation, approvalPolicy, certificateLifetimeSeconds, watchTimeoutSeconds } =
      this.#options
    const process = machine.start()
    const { ca } = foundation.pki
    const signer = { certificate: ca.pem, signer: ca.signer }
    const transport = network.connectFrom(process)({
      server: apiServer,
      certificateAuthority: ca.pem,
      clientCertificate: foundation.controllers,
    })
    startControllers({
      client: createClient(transport),
      clock: process.clock,
      random: process.random.stream('controllers'),
      log: process.log,
      signers: { [signerNames.kubeletClient]: signer, [signerNames.kubeletServing]: signer },
      certificateLifetimeSeconds,
      rootCertificates: ca.pem,
      only: ['approval', 'signing', 'cleaning'],
      approvalPolicy,
      ...(watchTimeoutSeconds && { watchTimeoutSeconds }),
    })
  }
}
