import type { AgentOptions } from '../agent/agent-options.ts'
import type { RunningStaticPods, StaticPodOptions } from '../agent/start-static-pods.ts'
import type { Log } from '../ports.ts'

/** Milliseconds that the rest of the agent waits for pods to begin: a container runtime may be slow, or not there. */
const LONGEST_WAIT = 1000

/**
 * Has the static pods running before the larger part of the program is even loaded, which takes longer than to start
 * them: a machine that boots has its API server, or the plugin that its credential comes from, that much sooner.
 */
export async function startPodsFirst(
  options: StaticPodOptions | undefined,
  { nodeName, addresses }: AgentOptions,
  log: Log,
): Promise<RunningStaticPods | undefined> {
  if (!options) return undefined
  const [
    { startStaticPods },
    { hostPorts },
    { fetchText },
    { systemNet },
    { ordinaryFiles },
    { systemRpc },
    { systemSpawn },
    { sleep },
  ] = await Promise.all([
    import('../agent/start-static-pods.ts'),
    import('../cluster/host-ports.ts'),
    import('../host/fetch-text.ts'),
    import('../host/net.ts'),
    import('../host/ordinary-files.ts'),
    import('../host/rpc.ts'),
    import('../host/spawn.ts'),
    import('../ports.ts'),
  ])
  const hostAddress = addresses.find(({ type }) => type === 'InternalIP')?.address
  const running = await startStaticPods(
    options,
    { nodeName, hostAddress },
    {
      ...{ ...hostPorts, disk: ordinaryFiles, log, fetchText },
      ...{ net: systemNet, connectRpc: systemRpc, spawn: systemSpawn },
    },
  )
  const hasBegun = new AbortController()
  void running.pods.begun.then(() => hasBegun.abort())
  await sleep(hostPorts.clock, LONGEST_WAIT, hasBegun.signal)
  return running
}
