import type { AccessAnswer } from './artifacts/cluster-artifacts.ts'

/** The group that kubeadm's bindings are made for, of those that a requester is in. */
export function groupOf({ groups }: Pick<AccessAnswer, 'groups'>): string {
  const own = groups.filter(group => !['system:authenticated', 'system:bootstrappers'].includes(group))
  return own[0] ?? groups[0] ?? 'system:bootstrappers'
}
