/** Tells when roles or their bindings change in the whole cluster: what access was refused may be allowed now (C-14). */
import type { ReflectorOptions } from '../kube/reflector.ts'
import { type KubeObject, resources } from '../kube/types.ts'
import { type Following, followWhereReadable } from './reserved/follow-where-readable.ts'

type Shared = Pick<ReflectorOptions<KubeObject>, 'client' | 'clock' | 'random' | 'log'> & {
  watchTimeoutSeconds?: number | undefined
}

/** Where they may not be read, refused requests are asked about again with growing pauses only. */
export function followAccess(shared: Shared, onChange: () => void): Following {
  const { client, clock, random, log, watchTimeoutSeconds } = shared
  const all = [resources.clusterRoles, resources.clusterRoleBindings].map(resource =>
    followWhereReadable<KubeObject>({
      client,
      clock,
      random,
      log,
      resource,
      ...(watchTimeoutSeconds && { watchSeconds: watchTimeoutSeconds }),
      // What they say is the API server's business.
      project: ({ apiVersion, kind, metadata: { name, uid, resourceVersion } }) => ({
        apiVersion,
        kind,
        metadata: { name, ...(uid && { uid }), ...(resourceVersion && { resourceVersion }) },
      }),
      onChange,
    }),
  )
  return {
    settled: Promise.all(all.map(({ settled }) => settled)).then(() => {}),
    async stop() {
      await Promise.all(all.map(following => following.stop()))
    },
  }
}
