import { systemCode } from '../../errors.ts'
import type { Disk, FileStat } from '../../ports.ts'
import { type PodSandbox, sandboxReady } from './cri-types.ts'
import { labelledPod, labels } from './labels.ts'

/** Where a kubelet finds its runtime unless told otherwise. */
const kubeletDefault = 'unix:///run/containerd/containerd.sock'

/** Bytes; a kubelet's is a few thousand. */
const largestConfig = 1024 * 1024

/** Pods that somebody else than an agent of ours runs here: a kubelet stops, within seconds, each one that it does not know. */
export function foreignPods(sandboxes: readonly PodSandbox[]): string[] {
  return sandboxes
    .filter(({ state, labels: of }) => state === sandboxReady && of[labels.managed] !== 'true')
    .flatMap(({ labels: of }) => labelledPod(of) ?? [])
    .sort()
}

/** The process id of a kubelet that uses the same runtime; undefined: none is seen. */
export async function kubeletProcess(endpoint: string, disk: Disk): Promise<number | undefined> {
  const ours = await linkOrNothing('/proc/self/ns/mnt', disk)
  for (const name of await disk.list('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const comm = await textOrNothing(`/proc/${name}/comm`, disk)
    if (comm.trim() !== 'kubelet' || !(await isOfTheHost(`/proc/${name}`, ours, disk))) continue
    const used = await endpointOf((await textOrNothing(`/proc/${name}/cmdline`, disk)).split('\0'), disk)
    if (socketPath(used) === socketPath(endpoint)) return Number(name)
  }
  return undefined
}

/** Anybody may call a process so: a kubelet is root's and sees the files that we see, which no container's process does. */
async function isOfTheHost(folder: string, mountNamespace: string, disk: Disk): Promise<boolean> {
  if ((await linkOrNothing(`${folder}/ns/mnt`, disk)) !== mountNamespace) return false
  return (await statOrNothing(folder, disk))?.owner === 0
}

/** Why nothing may be started beside a kubelet; undefined: there is none. */
export function rivalProblem(
  endpoint: string,
  pods: readonly string[],
  processId: number | undefined,
): string | undefined {
  if (pods.length === 0 && processId === undefined) return undefined
  const who = processId === undefined ? 'A kubelet' : `A kubelet (process ${processId})`
  const seen = pods.length === 0 ? '' : `, with the pods ${pods.slice(0, 5).join(', ')}`
  const more = pods.length > 5 ? ` and ${pods.length - 5} more` : ''
  return (
    `${who} uses the same runtime, ${endpoint}${seen}${more}. It stops pods that it does not know, so no pod is ` +
    'started beside it: give it the manifests, or stop it and remove its pods.'
  )
}

/** The flag, else the kubelet's configuration file, else its default. */
async function endpointOf(words: readonly string[], disk: Disk): Promise<string> {
  const flag = flagOf(words, 'container-runtime-endpoint')
  if (flag) return flag
  const path = flagOf(words, 'config')
  const file = path ? await statOrNothing(path, disk) : undefined
  // A pipe or a device is no configuration and may never end.
  const isReadable = file?.kind === 'file' && file.size <= largestConfig
  const text = path && isReadable ? await textOrNothing(path, disk) : ''
  return /^\s*"?containerRuntimeEndpoint"?:\s*"?([^\s",]+)/m.exec(text)?.[1] ?? kubeletDefault
}

function flagOf(words: readonly string[], name: string): string | undefined {
  const at = words.findIndex(word => word.replace(/^--?/, '').split('=')[0] === name)
  const [, value] = /=(.*)$/s.exec(words[at] ?? '') ?? []
  return at < 0 ? undefined : (value ?? words[at + 1])
}

function socketPath(endpoint: string): string {
  return endpoint.replace(/^unix:(\/\/)?/, '').replace(/^\/var\/run\//, '/run/')
}

async function textOrNothing(path: string, disk: Disk): Promise<string> {
  return new TextDecoder().decode(await unlessGone(disk.read(path)))
}

async function linkOrNothing(path: string, disk: Disk): Promise<string> {
  return (await unlessGone(disk.readlink(path))) ?? ''
}

function statOrNothing(path: string, disk: Disk): Promise<FileStat | undefined> {
  return unlessGone(disk.stat(path))
}

/** Processes come and go, and some files are not for us. */
async function unlessGone<T>(value: Promise<T>): Promise<T | undefined> {
  try {
    return await value
  } catch (error) {
    if (systemCode(error) === undefined) throw error
    return undefined
  }
}
