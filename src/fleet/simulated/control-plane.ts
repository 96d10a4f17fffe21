import { createAccess } from '../../apiserver/access/create-access.ts'
import type { Limits } from '../../apiserver/call.ts'
import { createApi } from '../../apiserver/create-api.ts'
import { createObjectReader } from '../../apiserver/object-reader.ts'
import { allResources } from '../../apiserver/resources/index.ts'
import type { Store } from '../../apiserver/storage/store.ts'
import type { ApiRequest, ApiResponse } from '../../kube/transport.ts'
import { Database } from './database.ts'
import type { Machine } from './machine.ts'
import type { Network } from './network.ts'
import type { SimulatedPki } from './pki.ts'

export interface ControlPlaneOptions {
  machine: Machine
  network: Network
  /** Host and port. */
  address: string
  pki: SimulatedPki
  /** Absent: an empty one. */
  database?: Database
  limits?: Partial<Limits>
  /** Sees each opened store before the API uses it, e.g. to watch over invariants. */
  onOpen?(store: Store): void
  /** Sees each answer at the moment it leaves the API. */
  onAnswer?(request: ApiRequest, response: ApiResponse): void
}

/** The API server's machine: its database outlives the process, everything else starts anew. */
export class ControlPlane {
  readonly machine: Machine
  readonly database: Database
  readonly #options: ControlPlaneOptions

  constructor(options: ControlPlaneOptions) {
    this.machine = options.machine
    this.database = options.database ?? new Database()
    this.#options = options
  }

  cutPower(): void {
    this.machine.cutPower()
  }

  start(): void {
    const { machine, network, address, pki, limits, onOpen, onAnswer } = this.#options
    const process = machine.start()
    const { clock, log } = process
    const store = this.database.open(process)
    onOpen?.(store)
    const reader = createObjectReader(store)
    const access = createAccess({ reader, clock, clientCertificateAuthorities: pki.ca.pem, log })
    const random = process.random.stream('api')
    const api = createApi({
      store,
      access,
      reader,
      resources: allResources,
      clock,
      random,
      log,
      ...(limits && { limits }),
    })
    network.listen(address, {
      process,
      certificate: () => pki.serving,
      async handle(request, peer) {
        const response = await api.handle(request, peer)
        onAnswer?.(request, response)
        return response
      },
    })
  }
}
