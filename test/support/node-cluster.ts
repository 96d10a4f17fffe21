import { mkdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { type Agent, startAgent } from '../../src/agent/agent.ts'
import { serveHttps } from '../../src/agent/serve-https.ts'
import { defaultPolicySpec } from '../../src/cluster/approval-policy.ts'
import { type ControlPlane, startControlPlane } from '../../src/cluster/control-plane.ts'
import { openDataDirectory } from '../../src/cluster/data-directory.ts'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { systemNet } from '../../src/host/net.ts'
import { systemSpawn } from '../../src/host/spawn.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import { recordingLog } from '../../src/testing/recording-log.ts'
import { eventually } from './eventually.ts'
import { type Kubectl, type KubectlOptions, kubectl } from './kubectl.ts'
import { temporaryFolder } from './rollcall-process.ts'
import { type ScriptedPod, staticPodMachine } from './static-pods.ts'

/** A control plane and one node with static pods, in this process; kubectl speaks with them over TLS. */
export interface NodeCluster {
  controlPlane: ControlPlane
  node: Agent
  kubectl(options?: Partial<KubectlOptions>): Kubectl
  adminKubeconfig: string
  /** kubectl's home. */
  home: string
  /** Writes its manifest and waits until it runs; its name in the API has `-node-a` behind it. */
  run(pod: ScriptedPod): Promise<void>
  /** The API server's audit log so far. */
  audited(): { verb: string; userAgent?: string; responseStatus?: { code: number } }[]
  log: ReturnType<typeof recordingLog>
  stop(): Promise<void>
}

/** Loopback addresses may be certified here, as `up` does for its fleet. */
const nodeAddress = '127.0.7.1'

export async function startNodeCluster(): Promise<NodeCluster> {
  const folder = temporaryFolder()
  const machine = staticPodMachine()
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
  mkdirSync(machine.in('node'))
  const node = startAgent(
    {
      nodeName: 'node-a',
      addresses: [
        { type: 'InternalIP', address: nodeAddress },
        { type: 'Hostname', address: 'node-a' },
      ],
      certDirectory: machine.in('node/pki'),
      kubeconfigPath: machine.in('node/kubeconfig'),
      bootstrapKubeconfigPath: directory.bootstrapKubeconfig,
      rotateCertificates: true,
      serverTLSBootstrap: true,
      listenAddress: nodeAddress,
      port: 0,
      staticPods: {
        directory: machine.directory,
        stateDirectory: machine.stateDirectory,
        runtime: 'process',
        allowRoot: true,
      },
    },
    { ...hostPorts, log, connect: connectUndici, listen: serveHttps, spawn: systemSpawn, net: systemNet },
  )
  await eventually(
    'the node serves',
    () => node.status().serving.state === 'Valid' && node.status().registered,
  )
  const forAdmin = { kubeconfig: directory.adminKubeconfig, home: folder.path }
  const cluster: NodeCluster = {
    controlPlane,
    node,
    kubectl: options => kubectl({ ...forAdmin, ...options }),
    adminKubeconfig: directory.adminKubeconfig,
    home: folder.path,
    async run(pod) {
      machine.write(pod)
      const ask = `get pod ${pod.name}-node-a -o jsonpath={.status.phase} --ignore-not-found`
      await eventually(
        `${pod.name} runs`,
        async () => (await cluster.kubectl().run(ask)).stdout === 'Running',
      )
    },
    audited: () =>
      readFileSync(directory.auditLog, 'utf8')
        .split('\n')
        .filter(Boolean)
        .map(line => JSON.parse(line)),
    log,
    async stop() {
      await node.stop()
      await machine.close()
      await controlPlane.stop()
      directory.release()
      folder.remove()
    },
  }
  return cluster
}
