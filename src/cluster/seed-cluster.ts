import { completingWrites } from '../apiserver/access/bootstrap-policy/reconcile.ts'
import { reconcileBootstrapPolicy } from '../apiserver/access/bootstrap-policy.ts'
import type { ObjectReader } from '../apiserver/reader.ts'
import type { KubeClient } from '../kube/client.ts'
import { publishApiService } from './api-service.ts'
import { publishClusterInfo } from './cluster-info.ts'
import type { ControlPlaneOptions } from './control-plane-options.ts'
import { publishClientCas } from './extension-authentication.ts'
import type { EmbeddedTrust } from './rollover/embedded-trust.ts'
import { reconcilePolicy, seed, storedPolicy } from './seed.ts'
import { attestationSeeds, controllersPolicy, kubeadmBindings, seedNamespaces } from './seed-objects.ts'

/** Everything that must be there before the first node comes: namespaces, roles, bindings, where the API is. */
export async function seedCluster(
  client: KubeClient,
  reader: ObjectReader,
  { server, port, trust }: { server: string; port: number; trust: EmbeddedTrust },
  { bind, clock }: ControlPlaneOptions,
): Promise<void> {
  await seed(client, seedNamespaces)
  const stored = storedPolicy(reader)
  await reconcilePolicy(client, [
    ...reconcileBootstrapPolicy(stored),
    ...completingWrites(stored, controllersPolicy),
  ])
  await seed(client, [...kubeadmBindings(), ...attestationSeeds()])
  await publishClusterInfo(client, server, trust.inSink('apiserver-serving', 'cluster-info'))
  await publishApiService(client, bind, port)
  await publishClientCas(client, trust.inSink('client', 'extension-apiserver-authentication'), clock.now())
}
