import type { PolicyWrite } from '../apiserver/access/bootstrap-policy/reconcile.ts'
import type { ObjectReader } from '../apiserver/reader.ts'
import { isStatus, type KubeClient } from '../kube/client.ts'
import { type ClusterRole, type ResourceRef, type RoleBinding, resources } from '../kube/types.ts'
import type { Seed } from './seed-objects.ts'

/** Creates what is missing, all at once. What is there stays as it is: an operator may have changed it. */
export async function seed(client: KubeClient, seeds: readonly Seed[]): Promise<void> {
  await Promise.all(
    seeds.map(async ({ resource, object }) => {
      try {
        await client.create(resource, object)
      } catch (error) {
        if (!isStatus(error, 'AlreadyExists')) throw error
      }
    }),
  )
}

const policyKinds: Readonly<Record<string, ResourceRef>> = {
  ClusterRole: resources.clusterRoles,
  ClusterRoleBinding: resources.clusterRoleBindings,
  Role: resources.roles,
  RoleBinding: resources.roleBindings,
}

/** The RBAC objects that are stored. */
export function storedPolicy(reader: ObjectReader): (ClusterRole | RoleBinding)[] {
  return Object.values(policyKinds).flatMap(resource => [...reader.list<ClusterRole | RoleBinding>(resource)])
}

/** Carries out what `reconcileBootstrapPolicy` asks for. */
export async function reconcilePolicy(client: KubeClient, writes: readonly PolicyWrite[]): Promise<void> {
  await Promise.all(writes.map(write => writePolicy(client, write)))
}

async function writePolicy(client: KubeClient, { operation, object }: PolicyWrite): Promise<void> {
  const resource = policyKinds[object.kind]
  if (!resource) throw new RangeError(`no collection for ${object.kind}`)
  const { name, namespace } = object.metadata
  if (operation === 'update') await client.update(resource, object)
  else {
    if (operation === 'recreate') await client.delete(resource, { name, ...(namespace && { namespace }) })
    await client.create(resource, object)
  }
}
