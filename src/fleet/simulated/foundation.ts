import { bootstrapPolicy } from '../../apiserver/access/bootstrap-policy.ts'
import type { Secret } from '../../keys/secret.ts'
import { createClient } from '../../kube/client.ts'
import { encodeKubeconfig } from '../../kube/encode-kubeconfig.ts'
import { type KubeObject, type ResourceRef, resources } from '../../kube/types.ts'
import { ControlPlane } from './control-plane.ts'
import type { Database } from './database.ts'
import { EventDigest } from './digest.ts'
import { Machine } from './machine.ts'
import { Network } from './network.ts'
import { type ClientCredential, createPki, type SimulatedPki } from './pki.ts'
import { SeededRandom } from './random.ts'
import { VirtualTime } from './virtual-time.ts'

export const apiAddress = { host: '10.0.0.1', port: 6443 }
export const apiServer = `https://${apiAddress.host}:${apiAddress.port}`

/** What `cluster` puts into a fresh control plane: namespaces, kubeadm's bindings, the bootstrap token. */
export interface ClusterSeeds {
  objects: readonly { resource: ResourceRef; object: KubeObject }[]
  /** `id.secret` of the bootstrap token among the objects. */
  bootstrapToken: Secret
  /** Subject of the controllers' client certificate; the objects give it its rights. */
  controllers: { commonName: string; organizations: readonly string[] }
}

/**
 * What is the same in every world: keys, and a database with the objects of a fresh cluster. Made once and copied, as
 * it costs more than a world's first day.
 */
export interface Foundation {
  /** Milliseconds since the epoch at which worlds begin. */
  start: number
  pki: SimulatedPki
  database: Database
  /** The controllers' credential. */
  controllers: ClientCredential
  /** Text of every node's bootstrap kubeconfig. */
  bootstrapKubeconfig: string
}

const collections = [
  resources.clusterRoles,
  resources.clusterRoleBindings,
  resources.roles,
  resources.roleBindings,
]

function collectionOf({ kind }: KubeObject): ResourceRef {
  const found = collections.find(resource => resource.kind === kind)
  if (!found) throw new Error(`the bootstrap policy holds a ${kind}`)
  return found
}

export async function layFoundation(seeds: ClusterSeeds, start: number): Promise<Foundation> {
  const time = new VirtualTime(start)
  const surroundings = { time, digest: new EventDigest() }
  const random = new SeededRandom('foundation')
  const pki = await createPki(random.stream('pki'), start, apiAddress.host)
  const admin = await pki.issueClient({ commonName: 'system:apiserver', organizations: ['system:masters'] })
  const network = new Network(time, random.stream('network'))
  const machine = new Machine('api', surroundings, random.stream('api'))
  const address = `${apiAddress.host}:${apiAddress.port}`
  const controlPlane = new ControlPlane({ machine, network, address, pki })
  controlPlane.start()

  const installer = new Machine('installer', surroundings, random.stream('installer')).start()
  const connection = { server: apiServer, certificateAuthority: pki.ca.pem, clientCertificate: admin }
  const client = createClient(network.connectFrom(installer)(connection))
  const policy = bootstrapPolicy().map(object => ({ resource: collectionOf(object), object }))
  const namespaces = seeds.objects.filter(({ resource }) => resource.plural === 'namespaces')
  const others = seeds.objects.filter(({ resource }) => resource.plural !== 'namespaces')
  const install = async () => {
    for (const { resource, object } of [...namespaces, ...policy, ...others])
      await client.create(resource, object)
  }
  let outcome: { error?: unknown } | undefined
  install().then(
    () => {
      outcome = {}
    },
    error => {
      outcome = { error }
    },
  )
  await time.runUntilHolds(() => outcome !== undefined, start + 3_600_000)
  if (!outcome || 'error' in outcome)
    throw new Error('the foundation could not be laid', { cause: outcome?.error })
  machine.kill()

  const bootstrap = { certificateAuthority: { pem: pki.ca.pem }, user: { token: seeds.bootstrapToken } }
  return {
    start: time.now,
    pki,
    database: controlPlane.database,
    controllers: await pki.issueClient(seeds.controllers),
    bootstrapKubeconfig: encodeKubeconfig({ server: apiServer, ...bootstrap }).reveal(),
  }
}
