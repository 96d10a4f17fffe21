import type { ResourceRef } from '../kube/types.ts'

/** Kubernetes' own names of the first days. */
const folders: Readonly<Record<string, string>> = {
  nodes: 'minions',
  services: 'services/specs',
  endpoints: 'services/endpoints',
}

/** Groups whose objects lie below the group's name, as those of custom resources do. */
const grouped = /^apiextensions\.k8s\.io$|^rollcall\.dev$/

/** Where kube-apiserver would keep the object: some of its messages say so. */
export function keyInEtcd(
  { group, plural }: Pick<ResourceRef, 'group' | 'plural'>,
  namespace: string,
  name: string,
): string {
  const folder = (group === '' && folders[plural]) || (grouped.test(group) ? `${group}/${plural}` : plural)
  return ['/registry', folder, namespace, name].filter(part => part !== '').join('/')
}
