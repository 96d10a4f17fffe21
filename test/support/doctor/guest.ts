/** A machine beside those of `up`, and what it is given. */
import { issuePair, type PairRequest } from '../../../src/cluster/issue-pair.ts'
import { systemRandom } from '../../../src/host/random.ts'
import { resources } from '../../../src/kube/types.ts'
import { authority } from './authority.ts'
import type { ExaminedUp } from './examined-up.ts'

const name = 'guest'

/** The machine beside the fleet, and what it asks its serving certificate for. */
export const own = { of: name, dns: [name], ips: ['10.0.0.11'] }

/** Gives a user rights in the whole cluster. */
export async function allow(up: ExaminedUp, user: string, rules: object[]): Promise<void> {
  const [apiVersion, apiGroup] = ['rbac.authorization.k8s.io/v1', 'rbac.authorization.k8s.io']
  const metadata = { name: `test:${user}` }
  await up.admin.create(resources.clusterRoles, {
    apiVersion,
    kind: 'ClusterRole',
    metadata,
    rules,
  } as object as Parameters<typeof up.admin.create>[1])
  await up.admin.create(resources.clusterRoleBindings, {
    apiVersion,
    kind: 'ClusterRoleBinding',
    metadata,
    roleRef: { apiGroup, kind: 'ClusterRole', name: metadata.name },
    subjects: [{ kind: 'User', apiGroup, name: user }],
  } as object as Parameters<typeof up.admin.create>[1])
}

/** A certificate of this node by the cluster's CA or another, for a key that is thrown away. */
export async function leaf(
  up: ExaminedUp,
  usage: PairRequest['usage'],
  changes: Partial<PairRequest> = {},
  ca = authority(up),
): Promise<string> {
  const subject = { commonName: `system:node:${name}`, organizations: ['system:nodes'] }
  const wanted = { ...subject, usage, lifetime: 86_400_000, now: up.now(), ...changes }
  return (await issuePair(ca, wanted, systemRandom)).certificate
}
