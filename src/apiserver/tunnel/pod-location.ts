import type { KubeNode, KubeObject } from '../../kube/types.ts'
import type { ObjectReader } from '../reader.ts'
import { flag } from '../request-info.ts'
import { nodes } from '../resources/nodes.ts'
import { pods } from '../resources/pods.ts'
import { ApiError, apiError } from '../wire/api-error.ts'
import { type KubeletAddress, kubeletAddress } from './kubelet-address.ts'
import { logQuery } from './log-options.ts'

interface Container {
  name?: string
}

/** What of a pod says where its containers are. */
interface Pod extends KubeObject {
  spec?: {
    nodeName?: string
    containers?: Container[]
    initContainers?: Container[]
    ephemeralContainers?: Container[]
  }
}

/** Where at which kubelet a request goes. */
export interface KubeletLocation {
  address: KubeletAddress
  /** Path and query, encoded. */
  path: string
}

export interface PodRequest {
  namespace: string
  name: string
  query: URLSearchParams
}

/** The kubelet of a node. Throws ApiError 404, or 500 when the Node does not say where it is. */
export function kubeletOf(reader: ObjectReader, name: string, preferred: readonly string[]): KubeletAddress {
  const node = reader.get<KubeNode>(nodes, name)
  if (!node) throw apiError.notFound(nodes, name)
  const address = kubeletAddress(node, preferred)
  if (typeof address === 'string') throw new ApiError(500, undefined, address)
  return address
}

/** Where the log of a container is; undefined: the pod has no node yet, so its log is empty. Throws ApiError. */
export function logLocation(
  reader: ObjectReader,
  { namespace, name, query }: PodRequest,
  preferred: readonly string[],
): KubeletLocation | undefined {
  const options = logQuery(name, query)
  const pod = requirePod(reader, namespace, name)
  const container = containerOf(pod, query.get('container') ?? '')
  const node = pod.spec?.nodeName ?? ''
  if (node === '') return undefined
  const path = kubeletPath('containerLogs', namespace, name, container)
  return { address: kubeletOf(reader, node, preferred), path: options === '' ? path : `${path}?${options}` }
}

/** Where a command is run or a container attached to. Throws ApiError. */
export function execLocation(
  reader: ObjectReader,
  kind: 'exec' | 'attach',
  { namespace, name, query }: PodRequest,
  preferred: readonly string[],
): KubeletLocation {
  const pod = requirePod(reader, namespace, name)
  const container = containerOf(pod, query.get('container') ?? '')
  const asked = new URLSearchParams()
  for (const [from, to] of [
    ['stdin', 'input'],
    ['stdout', 'output'],
    ['stderr', 'error'],
    ['tty', 'tty'],
  ] as const)
    if (flag(query, from)) asked.set(to, '1')
  if (kind === 'exec') for (const word of query.getAll('command')) asked.append('command', word)
  asked.sort()
  const address = hostOf(reader, pod, preferred)
  return { address, path: `${kubeletPath(kind, namespace, name, container)}?${asked}` }
}

/** Where ports of a pod are forwarded. Throws ApiError. */
export function portForwardLocation(
  reader: ObjectReader,
  { namespace, name, query }: PodRequest,
  preferred: readonly string[],
): KubeletLocation {
  const pod = requirePod(reader, namespace, name)
  const wanted = query.getAll('ports').flatMap(text => text.split(','))
  const wrong = wanted.find(port => !/^\d{1,5}$/.test(port))
  if (wrong !== undefined)
    throw apiError.badRequest(`strconv.ParseInt: parsing ${JSON.stringify(wrong)}: invalid syntax`)
  const ports = new URLSearchParams(wanted.map((port): [string, string] => ['port', port]))
  const path = kubeletPath('portForward', namespace, name)
  const address = hostOf(reader, pod, preferred)
  return { address, path: ports.size === 0 ? path : `${path}?${ports}` }
}

function requirePod(reader: ObjectReader, namespace: string, name: string): Pod {
  const pod = reader.get<Pod>(pods, name, namespace)
  if (!pod) throw apiError.notFound(pods, name)
  return pod
}

function hostOf(reader: ObjectReader, pod: Pod, preferred: readonly string[]): KubeletAddress {
  const node = pod.spec?.nodeName ?? ''
  if (node === '') throw apiError.badRequest(`pod ${pod.metadata.name} does not have a host assigned`)
  return kubeletOf(reader, node, preferred)
}

/** The container that is meant; a pod with one need not name it. Throws ApiError 400 with Kubernetes' texts. */
function containerOf({ metadata, spec = {} }: Pod, wanted: string): string {
  const { containers = [], initContainers = [], ephemeralContainers = [] } = spec
  const namesOf = (list: readonly Container[]) => list.map(({ name = '' }) => name)
  const [only, ...more] = namesOf(containers)
  if (wanted !== '') {
    const all = namesOf([...containers, ...initContainers, ...ephemeralContainers])
    if (all.includes(wanted)) return wanted
    throw apiError.badRequest(`container ${wanted} is not valid for pod ${metadata.name}`)
  }
  if (only !== undefined && more.length === 0) return only
  let choice = `a container name must be specified for pod ${metadata.name}`
  if (only !== undefined) choice += `, choose one of: [${namesOf(containers).join(' ')}]`
  if (initContainers.length > 0)
    choice += ` or one of the init containers: [${namesOf(initContainers).join(' ')}]`
  throw apiError.badRequest(choice)
}

/** Each part is one segment, whatever is in it. */
function kubeletPath(...parts: string[]): string {
  return `/${parts.map(encodeURIComponent).join('/')}`
}
