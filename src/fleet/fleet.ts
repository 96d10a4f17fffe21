import { join } from 'node:path'
import { type Agent, startAgent } from '../agent/agent.ts'
import type { AgentPorts } from '../agent/agent-options.ts'
import type { ServeHttps } from '../agent/serving.ts'
import { hasCode, systemCode } from '../errors.ts'
import type { Disk } from '../ports.ts'
import { fleetNode } from './fleet-address.ts'

/** What one node of the fleet has reached. */
export interface NodeReport {
  name: string
  /** The Node is in the API. */
  registered: boolean
  /** Holds a valid client certificate. */
  client: boolean
  /** Holds a valid serving certificate. */
  serving: boolean
  /** The latest trouble that is not over. */
  lastError?: string
}

export interface FleetOptions {
  /** How many nodes; they are named worker-1 … worker-N. */
  nodes: number
  /** `D/nodes`: each node keeps its kubeconfig, pairs and port in a folder of its own name. */
  directory: string
  /** The file with the only credential that the nodes start with. */
  bootstrapKubeconfig: string
  /** The file with the trust roots that every node pins. */
  trustRoots?: string
  /** Which process this is, for what the nodes report. */
  instance?: { pid: number; startTicks: number }
  /** Told whenever a node reached or lost something. */
  onReport(report: NodeReport): void
}

export interface Fleet {
  stop(): Promise<void>
}

/** The nodes of a fleet serve HTTPS; static pods they have none. */
type FleetPorts = AgentPorts & Required<Pick<AgentPorts, 'listen'>>

/** Starts the nodes, each a full agent with its own address in 127.0.0.0/8, side by side in this process. */
export async function startFleet(options: FleetOptions, ports: FleetPorts): Promise<Fleet> {
  const indexes = Array.from({ length: options.nodes }, (_, index) => index + 1)
  const agents = await Promise.all(indexes.map(index => startNode(index, options, ports)))
  return {
    stop: async () => {
      await Promise.all(agents.map(agent => agent.stop()))
    },
  }
}

async function startNode(index: number, options: FleetOptions, ports: FleetPorts): Promise<Agent> {
  const { name, address } = fleetNode(index)
  const folder = join(options.directory, name)
  await ports.disk.makeDirectory(folder, 0o700)
  const agent = startAgent(
    {
      nodeName: name,
      addresses: [
        { type: 'InternalIP', address },
        { type: 'Hostname', address: name },
      ],
      certDirectory: join(folder, 'pki'),
      kubeconfigPath: join(folder, 'kubeconfig'),
      bootstrapKubeconfigPath: options.bootstrapKubeconfig,
      ...(options.trustRoots !== undefined && { trustRootsPath: options.trustRoots }),
      ...(options.instance && { instance: options.instance }),
      rotateCertificates: true,
      serverTLSBootstrap: true,
      listenAddress: address,
      port: 0,
    },
    { ...ports, listen: keepingPort(join(folder, 'port'), ports.disk, ports.listen) },
  )
  const report = () => options.onReport(reportOf(name, agent))
  agent.onChange(report)
  report()
  return agent
}

function reportOf(name: string, agent: Agent): NodeReport {
  const { client, serving, registered, lastError } = agent.status()
  return {
    name,
    registered,
    client: client.state === 'Valid',
    serving: serving.state === 'Valid',
    ...(lastError !== undefined && { lastError }),
  }
}

/** Listens at the port of the last run when it is free, else at a free one, which the file then remembers. */
function keepingPort(path: string, disk: Disk, listen: ServeHttps): ServeHttps {
  return async options => {
    const remembered = await rememberedPort(path, disk)
    const endpoint = await listen({ ...options, port: remembered }).catch(error => {
      if (remembered !== 0 && hasCode(error, 'PORT_IN_USE')) return listen({ ...options, port: 0 })
      throw error
    })
    if (endpoint.port !== remembered) await disk.write(path, `${endpoint.port}\n`, { mode: 0o600 })
    return endpoint
  }
}

/** 0 when there is none that could be used. */
async function rememberedPort(path: string, disk: Disk): Promise<number> {
  try {
    const port = Number(new TextDecoder().decode(await disk.read(path)))
    return Number.isInteger(port) && port > 0 && port < 65536 ? port : 0
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 0
    throw error
  }
}
