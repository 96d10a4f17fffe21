import { type Agent, startAgent } from '../agent/agent.ts'
import type { AgentOptions } from '../agent/agent-options.ts'
import { serveProxy } from '../agent/beside-kubelet/serve-proxy.ts'
import { serveSocket } from '../agent/beside-kubelet/serve-socket.ts'
import { serveHttps } from '../agent/serve-https.ts'
import type { RunningStaticPods } from '../agent/start-static-pods.ts'
import { hostPorts } from '../cluster/host-ports.ts'
import { tokenTlsStarter } from '../cluster/token-tls-child.ts'
import { systemNet } from '../host/net.ts'
import { ordinaryFiles } from '../host/ordinary-files.ts'
import { cryptokiLoader } from '../host/pkcs11.ts'
import { processesIn } from '../host/processes.ts'
import { systemSpawn } from '../host/spawn.ts'
import { systemTpm } from '../host/tpm.ts'
import { connectHttps } from '../kube/https-transport.ts'
import { ownIdentity, parseIdentity } from '../pods/state/process-identity.ts'
import type { Log } from '../ports.ts'
import type { CommandIo } from './command-io.ts'

/** The agent on this machine, until `stopped`. */
export async function runAgent(
  options: AgentOptions,
  {
    log,
    staticPods,
    stopped,
  }: { log: Log; staticPods: RunningStaticPods | undefined; stopped: Promise<void> },
  io: CommandIo,
): Promise<void> {
  const agent = startAgent(await asThisProcess(options), {
    ...hostPorts,
    disk: ordinaryFiles,
    log,
    connect: connectHttps,
    beside: { serveSocket, serveProxy },
    listen: serveHttps,
    spawn: systemSpawn,
    net: systemNet,
    processes: processesIn(),
    ...(staticPods && { staticPods }),
    environment: environmentOfProcess(),
    openTpm: systemTpm,
    token: { load: cryptokiLoader(), startTls: tokenTlsStarter(log) },
  })
  announceReady(agent, options, io)
  await stopped
  await agent.stop()
}

/** As which process of which boot it reports what it has loaded. */
async function asThisProcess(options: AgentOptions): Promise<AgentOptions> {
  const own = parseIdentity(await ownIdentity(hostPorts.disk))
  if (!own) return options
  const { processId: pid, startTicks, bootId: bootID } = own
  const instance = { pid, startTicks: Number(startTicks) }
  return { ...options, instance, nodeInfo: { bootID, ...options.nodeInfo } }
}

/** One `ready` line when the node is registered and holds both certificates for the first time. */
function announceReady(agent: Agent, options: AgentOptions, io: CommandIo): void {
  const { nodeName, listenAddress, besideKubelet } = options
  const end = agent.onChange(check)
  function check() {
    const { client, serving, registered, port } = agent.status()
    // Beside a kubelet Node and serving certificate come only when that runs, which may wait for us.
    const whole = besideKubelet !== undefined || (registered && serving.state === 'Valid')
    if (client.state !== 'Valid' || !whole) return
    end()
    io.stdout(`ready ${nodeName}${port === undefined ? '' : ` serving at ${listenAddress}:${port}`}\n`)
  }
}

function environmentOfProcess(): Record<string, string> {
  return Object.fromEntries(
    Object.entries(process.env).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  )
}
