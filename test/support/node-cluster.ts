import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Agent, startAgent } from '../../src/agent/agent.ts'
import { serveHttps } from '../../src/agent/serve-https.ts'
import { startStaticPods } from '../../src/agent/start-static-pods.ts'
import { defaultPolicySpec } from '../../src/cluster/approval-policy.ts'
import { type ControlPlane, startControlPlane } from '../../src/cluster/control-plane.ts'
import { openDataDirectory } from '../../src/cluster/data-directory.ts'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { systemNet } from '../../src/host/net.ts'
import { systemRpc } from '../../src/host/rpc.ts'
import { systemSpawn } from '../../src/host/spawn.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import { recordingLog } from '../../src/testing/recording-log.ts'
import type { Containerd } from './containerd.ts'
import { eventually } from './eventually.ts'
import { type Kubectl, type KubectlOptions, kubectl } from './kubectl.ts'
import { temporaryFolder } from './rollcall-process.ts'
import { inContainerd, processes, type ScriptedPod, staticPodMachine } from './static-pods.ts'

/** What a test looks at in an event of the audit log. */
interface AuditEvent {
  stage: string
  verb: string
  requestURI: string
  user: { username: string }
  userAgent?: string
  objectRef?: { subresource?: string }
  responseStatus?: { code: number }
}

/** A control plane in this process; kubectl speaks with it over TLS. */
export interface ControlPlaneOnly {
  controlPlane: ControlPlane
  kubectl(options?: Partial<KubectlOptions>): Kubectl
  adminKubeconfig: string
  bootstrapKubeconfig: string
  /** kubectl's home. */
  home: string
  /** The API server's audit log so far. */
  audited(): AuditEvent[]
  log: ReturnType<typeof recordingLog>
  stop(): Promise<void>
}

/** One with a node that runs static pods, also in this process. */
export interface NodeCluster extends ControlPlaneOnly {
  node: Agent
  /** Writes its manifest and waits until it runs; its name in the API has `-node-a` behind it. */
  run(pod: ScriptedPod): Promise<void>
}

/** Loopback addresses may be certified here, as `up` does for its fleet. */
const nodeAddress = '127.0.7.1'

export async function startControlPlaneOnly(): Promise<ControlPlaneOnly> {
  const folder = temporaryFolder()
  const log = recordingLog()
  const directory = openDataDirectory(join(folder.path, 'data'))
  const controlPlane = await startControlPlane({
    directory,
    port: 0,
    bind: '127.0.0.1',
    certificateLifetimeSeconds: 86_400,
    policy: defaultPolicySpec([nodeAddress]),
    ...hostPorts,
    log,
  })
  const forAdmin = { kubeconfig: directory.adminKubeconfig, home: folder.path }
  return {
    controlPlane,
    kubectl: options => kubectl({ ...forAdmin, ...options }),
    adminKubeconfig: directory.adminKubeconfig,
    bootstrapKubeconfig: directory.bootstrapKubeconfig,
    home: folder.path,
    audited: () =>
      readFileSync(directory.auditLog, 'utf8')
        .split('\n')
        // Behind the last newline a line may be under way.
        .slice(0, -1)
        .map(line => JSON.parse(line)),
    log,
    async stop() {
      await controlPlane.stop()
      directory.release()
      folder.remove()
    },
  }
}

/** Pods are plain processes, or containers of this containerd. */
export async function startNodeCluster(containerd?: Containerd): Promise<NodeCluster> {
  const base = await startControlPlaneOnly()
  const { log } = base
  const machine = staticPodMachine(containerd ? inContainerd(containerd) : processes)
  mkdirSync(machine.in('node'))
  const staticPods = await startStaticPods(
    {
      directory: machine.directory,
      stateDirectory: machine.stateDirectory,
      ...(containerd
        ? { runtime: 'cri', containerRuntimeEndpoint: containerd.endpoint }
        : { runtime: 'process', allowRoot: true }),
    },
    { nodeName: 'node-a', hostAddress: nodeAddress },
    { ...hostPorts, log, connectRpc: systemRpc, spawn: systemSpawn, net: systemNet },
  )
  const node = startAgent(
    {
      nodeName: 'node-a',
      addresses: [
        { type: 'InternalIP', address: nodeAddress },
        { type: 'Hostname', address: 'node-a' },
      ],
      certDirectory: machine.in('node/pki'),
      kubeconfigPath: machine.in('node/kubeconfig'),
      bootstrapKubeconfigPath: base.bootstrapKubeconfig,
      rotateCertificates: true,
      serverTLSBootstrap: true,
      listenAddress: nodeAddress,
      port: 0,
    },
    {
      ...hostPorts,
      log,
      connect: connectUndici,
      listen: serveHttps,
      staticPods,
    },
  )
  await eventually(
    'the node serves',
    () => node.status().serving.state === 'Valid' && node.status().registered,
  )
  return {
    ...base,
    node,
    async run(pod) {
      machine.write(pod)
      const ask = `get pod ${pod.name}-node-a -o jsonpath={.status.phase} --ignore-not-found`
      await eventually(`${pod.name} runs`, async () => (await base.kubectl().run(ask)).stdout === 'Running')
    },
    async stop() {
      await node.stop()
      await machine.close()
      await base.stop()
    },
  }
}
