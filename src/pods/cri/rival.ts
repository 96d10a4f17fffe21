import { systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import { type PodSandbox, sandboxReady } from './cri-types.ts'
import { labelledPod, labels } from './labels.ts'

/** Where a kubelet finds its runtime unless told otherwise. */
const kubeletDefault = 'unix:///run/containerd/containerd.sock'

/** Pods that somebody else than an agent of ours runs here: a kubelet stops, within seconds, each one that it does not know. */
export function foreignPods(sandboxes: readonly PodSandbox[]): string[] {
  return sandboxes
    .filter(({ state, labels: of }) => state === sandboxReady && of[labels.managed] !== 'true')
    .flatMap(({ labels: of }) => labelledPod(of) ?? [])
    .sort()
}

/** The process id of a kubelet that uses the same runtime; undefined: none is seen. */
export async function kubeletProcess(endpoint: string, disk: Disk): Promise<number | undefined> {
  for (const name of await disk.list('/proc')) {
    if (!/^\d+$/.test(name)) continue
    const comm = await textOrNothing(`/proc/${name}/comm`, disk)
    if (comm.trim() !== 'kubelet') continue
    const used = await endpointOf((await textOrNothing(`/proc/${name}/cmdline`, disk)).split('\0'), disk)
    if (socketPath(used) === socketPath(endpoint)) return Number(name)
  }
  return undefined
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
  const text = path ? await textOrNothing(path, disk) : ''
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

/** Processes come and go, and some files are not for us. */
async function textOrNothing(path: string, disk: Disk): Promise<string> {
  try {
    return new TextDecoder().decode(await disk.read(path))
  } catch (error) {
    if (systemCode(error) === undefined) throw error
    return ''
  }
}
