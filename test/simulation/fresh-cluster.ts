import { createBootstrapToken } from '../../src/cluster/bootstrap-token.ts'
import { identities } from '../../src/cluster/identities.ts'
import { seedNamespaces, seedObjects } from '../../src/cluster/seed-objects.ts'
import { type Foundation, layFoundation } from '../../src/fleet/simulated/foundation.ts'
import { SeededRandom } from '../../src/fleet/simulated/random.ts'
import { resources } from '../../src/kube/types.ts'

const year = 365 * 86_400_000
/** When simulated worlds begin. */
const start = Date.UTC(2026, 0, 1)

/** A control plane as `rollcall up` makes it, with a bootstrap token that outlives the simulation. */
export function freshCluster(): Promise<Foundation> {
  const token = createBootstrapToken(start + 10 * year, new SeededRandom('bootstrap token'))
  const objects = [
    ...seedNamespaces,
    ...seedObjects(''),
    { resource: resources.secrets, object: token.object },
  ]
  return layFoundation({ objects, bootstrapToken: token.token, controllers: identities.controllers }, start)
}
