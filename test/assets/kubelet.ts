/** A kubelet of the folder with a containerd of its own, as §6.3 says it runs where there is neither systemd nor CNI. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { networkInterfaces } from 'node:os'
import { dirname, join } from 'node:path'
import { stringify } from 'yaml'
import { type Containerd, noContainerd, startContainerd } from '../support/containerd.ts'
import { freePort } from '../support/free-port.ts'
import { temporaryFolder } from '../support/rollcall-process.ts'
import { noAssets } from './folder.ts'
import { type RunningProgram, startProgram } from './program.ts'

/** A kubelet takes no loopback address for its node's. */
export function machineAddress(): string | undefined {
  const all = Object.values(networkInterfaces()).flatMap(list => list ?? [])
  return all.find(({ family, internal }) => family === 'IPv4' && !internal)?.address
}

export const noKubelet = (): string | false =>
  noAssets('kubelet') ||
  noContainerd ||
  (machineAddress() === undefined && 'needs an address that is not loopback')

export interface KubeletOptions {
  node: string
  kubeconfig: string
  bootstrapKubeconfig?: string
  clientCaFile: string
  /** Replaces fields of the KubeletConfiguration. */
  config?: Record<string, unknown>
  environment?: Record<string, string>
}

export interface RunningKubelet {
  program: RunningProgram
  containerd: Containerd
  address: string
  /** A file below its own folder. */
  in(name: string): string
  /** Ends it and its pods. */
  stop(): Promise<void>
}

/** The folder is made first, so that a static pod may lie there before the kubelet starts. */
export interface KubeletMachine {
  in(name: string): string
  manifest(name: string, pod: object): void
  start(options: KubeletOptions): Promise<RunningKubelet>
  close(): Promise<void>
}

export async function kubeletMachine(): Promise<KubeletMachine> {
  const folder = temporaryFolder()
  const at = (name: string) => join(folder.path, name)
  for (const name of ['manifests', 'root', 'pki', 'logs', 'plugins']) mkdirSync(at(name))
  const containerd = await startContainerd()
  nameNetwork(containerd)
  let kubelet: RunningProgram | undefined
  return {
    in: at,
    manifest: (name, pod) => writeFileSync(at(`manifests/${name}.yaml`), stringify(pod)),
    async start(options) {
      const address = machineAddress()
      if (address === undefined) throw new Error('this machine has no address but loopback')
      const healthzPort = await freePort()
      const config = {
        ...(await configuration(at, containerd.endpoint, options, healthzPort)),
        ...options.config,
      }
      writeFileSync(at('config.yaml'), stringify(config))
      kubelet = await startProgram('kubelet', {
        flags: {
          config: at('config.yaml'),
          kubeconfig: options.kubeconfig,
          ...(options.bootstrapKubeconfig && { 'bootstrap-kubeconfig': options.bootstrapKubeconfig }),
          'root-dir': at('root'),
          'cert-dir': at('pki'),
          'hostname-override': options.node,
          'node-ip': address,
        },
        logFile: at('kubelet.log'),
        isReady: async () => (await fetch(`http://127.0.0.1:${healthzPort}/healthz`)).ok,
        ...(options.environment && { environment: options.environment }),
      })
      const program = kubelet
      return { program, containerd, address, in: at, stop: () => program.stop() }
    },
    async close() {
      await kubelet?.stop()
      await containerd.close()
      folder.remove()
    },
  }
}

/**
 * A runtime whose network is not ready keeps a Node from Ready, and containerd's is once a network has a name. Pods of the
 * host's network ask for none, so that no plugin is ever started.
 */
function nameNetwork({ endpoint }: Containerd): void {
  const directory = join(dirname(endpoint.slice('unix://'.length)), 'cni/net.d')
  mkdirSync(directory, { recursive: true })
  const network = { cniVersion: '0.4.0', name: 'none', plugins: [{ type: 'loopback' }] }
  writeFileSync(join(directory, '10-none.conflist'), JSON.stringify(network))
}

async function configuration(
  at: (name: string) => string,
  containerRuntimeEndpoint: string,
  { clientCaFile }: KubeletOptions,
  healthzPort: number,
): Promise<Record<string, unknown>> {
  readFileSync(clientCaFile) // one that is missing ends a kubelet (K-5)
  return {
    apiVersion: 'kubelet.config.k8s.io/v1beta1',
    kind: 'KubeletConfiguration',
    containerRuntimeEndpoint,
    staticPodPath: at('manifests'),
    podLogsDir: at('logs'),
    volumePluginDir: at('plugins'),
    port: await freePort(),
    healthzPort,
    authentication: {
      x509: { clientCAFile: clientCaFile },
      anonymous: { enabled: false },
      webhook: { enabled: true },
    },
    authorization: { mode: 'Webhook' },
    rotateCertificates: true,
    serverTLSBootstrap: true,
    failCgroupV1: false,
    failSwapOn: false,
    cgroupDriver: 'cgroupfs',
    cgroupsPerQOS: false,
    enforceNodeAllocatable: [],
    localStorageCapacityIsolation: false,
    makeIPTablesUtilChains: false,
    evictionHard: { 'memory.available': '1Mi' },
  }
}

/** A static pod that prints a line and waits; in the host's network, since there is no CNI. */
export const quietPod = (name: string, image: string) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, namespace: 'default' },
  spec: {
    hostNetwork: true,
    terminationGracePeriodSeconds: 1,
    containers: [
      { name: 'c', image, imagePullPolicy: 'Never', command: ['sh', '-c', 'echo it runs; exec sleep 3600'] },
    ],
  },
})
