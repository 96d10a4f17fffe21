import type { KubeNode } from '../../kube/types.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import type { Column } from './resource.ts'

/** `Ready`, `NotReady` or `Unknown`, and `SchedulingDisabled` where it is cordoned. */
function nodeStatus(node: KubeNode): string {
  const ready = node.status?.conditions?.find(condition => condition.type === 'Ready')
  const words = [ready ? (ready.status === 'True' ? 'Ready' : 'NotReady') : 'Unknown']
  if (node.spec?.unschedulable) words.push('SchedulingDisabled')
  return words.join(',')
}

const rolePrefix = 'node-role.kubernetes.io/'

function roles(node: KubeNode): string {
  const found = new Set<string>()
  for (const [key, value] of Object.entries(node.metadata.labels ?? {})) {
    if (key.startsWith(rolePrefix) && key !== rolePrefix) found.add(key.slice(rolePrefix.length))
    else if (key === 'kubernetes.io/role' && value !== '') found.add(value)
  }
  return [...found].sort().join(',') || '<none>'
}

function address(node: KubeNode, type: string): string {
  return node.status?.addresses?.find(one => one.type === type)?.address ?? '<none>'
}

function kernel({ status }: KubeNode): string {
  const { kernelVersion, architecture } = status?.nodeInfo ?? {}
  if (!kernelVersion) return '<unknown>'
  return architecture ? `${kernelVersion} (${architecture})` : kernelVersion
}

const addressDescription =
  'List of addresses reachable to the node. Queried from cloud provider, if available. More info: ' +
  'https://kubernetes.io/docs/reference/node/node-status/#addresses'

export const nodeColumns: readonly Column<KubeNode>[] = [
  nameColumn,
  textColumn('Status', 'The status of the node', nodeStatus),
  textColumn('Roles', 'The roles of the node', roles),
  ageColumn,
  textColumn(
    'Version',
    'Kubelet Version reported by the node.',
    ({ status }) => status?.nodeInfo?.kubeletVersion ?? '',
  ),
  textColumn('Internal-IP', addressDescription, node => address(node, 'InternalIP'), 1),
  textColumn('External-IP', addressDescription, node => address(node, 'ExternalIP'), 1),
  textColumn(
    'OS-Image',
    'OS Image reported by the node from /etc/os-release (e.g. Debian GNU/Linux 7 (wheezy)).',
    ({ status }) => status?.nodeInfo?.osImage || '<unknown>',
    1,
  ),
  textColumn(
    'Kernel-Version',
    "Kernel Version reported by the node from 'uname -r' (e.g. 3.16.0-0.bpo.4-amd64).",
    kernel,
    1,
  ),
  textColumn(
    'Container-Runtime',
    'ContainerRuntime Version reported by the node through runtime remote API (e.g. containerd://1.4.2).',
    ({ status }) => status?.nodeInfo?.containerRuntimeVersion || '<unknown>',
    1,
  ),
]
