import { appendFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { systemCode } from '../../src/errors.ts'
import { systemNet } from '../../src/host/net.ts'
import { systemRpc } from '../../src/host/rpc.ts'
import { systemSpawn } from '../../src/host/spawn.ts'
import { CriRuntime, type CriRuntimeOptions } from '../../src/pods/cri/cri-runtime.ts'
import type { RestartBackoff } from '../../src/pods/lifecycle/restart-backoff.ts'
import { ProcessRuntime } from '../../src/pods/process/process-runtime.ts'
import type { Runtime } from '../../src/pods/runtime.ts'
import { isRunning, parseIdentity } from '../../src/pods/state/process-identity.ts'
import { StaticPods } from '../../src/pods/static-pods.ts'
import { podStatus } from '../../src/pods/status/pod-status.ts'
import type { Log } from '../../src/ports.ts'
import { recordingLog } from '../../src/testing/recording-log.ts'
import { busybox, type Containerd } from './containerd.ts'
import { temporaryFolder } from './rollcall-process.ts'

/** What a test says of a pod; `script` is run by sh. */
export interface ScriptedPod {
  name: string
  script: string
  /** Laid over the container. */
  container?: object
  /** Laid over spec and metadata. */
  spec?: object
  metadata?: object
}

/** What the runtime of a machine differs in. */
export interface MachineRuntime {
  /** Laid under each container, so that with the volumes it sees `folder` where it is. */
  container(folder: string): object
  volumes(folder: string): object[]
  create(options: { stateDirectory: string; allowRoot: boolean; log: Log }): Runtime
  /** Ends all containers of the agents with this state. */
  clear(stateDirectory: string): Promise<void>
}

const node = () => ({ nodeName: 'node-a', hostAddress: '127.0.0.1' })

export const processes: MachineRuntime = {
  container: () => ({ image: 'host' }),
  volumes: () => [],
  create: options => new ProcessRuntime({ ...hostPorts, ...options, spawn: systemSpawn, node }),
  /** By the identity that each shim left. */
  async clear(stateDirectory) {
    for (const file of globSync('pods/*/*/*/process', { cwd: stateDirectory })) {
      const identity = parseIdentity(readFileSync(join(stateDirectory, file), 'utf8'))
      if (identity && (await isRunning(identity, hostPorts.disk)))
        systemSpawn.signal(-identity.processId, 'SIGKILL')
    }
  },
}

/** `more`: options of the runtime. */
export function inContainerd(containerd: Containerd, more: Partial<CriRuntimeOptions> = {}): MachineRuntime {
  return {
    container: folder => ({ image: busybox, volumeMounts: [{ name: 'machine', mountPath: folder }] }),
    volumes: folder => [{ name: 'machine', hostPath: { path: folder } }],
    create: options =>
      new CriRuntime({
        ...hostPorts,
        ...options,
        spawn: systemSpawn,
        connectRpc: systemRpc,
        endpoint: containerd.endpoint,
        node,
        ...more,
      }),
    clear: stateDirectory => containerd.clear(stateDirectory),
  }
}

export type Machine = ReturnType<typeof staticPodMachine>

/** A folder with manifests and state, and the static pods of agents that come and go on it. */
export function staticPodMachine(kind: MachineRuntime = processes) {
  const folder = temporaryFolder()
  const directory = join(folder.path, 'manifests')
  const stateDirectory = join(folder.path, 'state')
  mkdirSync(directory)
  const agents = new Set<StaticPods>()
  const log = recordingLog()
  const machine = {
    path: folder.path,
    directory,
    stateDirectory,
    log,
    /** What each pod here has; those of a pod that a test writes as a whole come beside them. */
    volumes: kind.volumes(folder.path),
    in: (name: string) => join(folder.path, name),
    /** A container of a pod that a test writes as a whole. */
    container: (name: string, script: string, rest: object = {}) => ({
      name,
      ...kind.container(folder.path),
      command: ['/bin/sh', '-c', script],
      ...rest,
    }),
    write({ name, script, container = {}, spec = {}, metadata = {} }: ScriptedPod, file = `${name}.json`) {
      const pod = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name, ...metadata },
        spec: {
          hostNetwork: true,
          terminationGracePeriodSeconds: 2,
          containers: [machine.container('main', script, container)],
          volumes: machine.volumes,
          ...spec,
        },
      }
      writeFileSync(join(directory, file), JSON.stringify(pod))
    },
    writeText: (file: string, text: string) => writeFileSync(join(directory, file), text),
    remove: (file: string) => rmSync(join(directory, file)),
    note: (name: string, text: string) => appendFileSync(join(folder.path, name), text),
    /** Lines of a file in the folder; none where it is not there. */
    lines(name: string): string[] {
      try {
        return readFileSync(join(folder.path, name), 'utf8').split('\n').filter(Boolean)
      } catch (error) {
        if (systemCode(error) === 'ENOENT') return []
        throw error
      }
    },
    /** A script that writes `up PROCESS-ID` and waits; answers TERM by writing `stopped` and exit code `code`. */
    service: (name: string, greeting = 'up', code = 0) =>
      `trap 'echo stopped >>${machine.in(name)}; exit ${code}' TERM; echo ${greeting} $$$$ >>${machine.in(name)}; while :; do sleep 0.05; done`,
    /** An agent's static pods; `end` is what the end of its process leaves: the pods go on. */
    startAgent({ allowRoot = true, backoff }: { allowRoot?: boolean; backoff?: RestartBackoff } = {}) {
      const runtime = kind.create({ stateDirectory, allowRoot, log })
      const pods = new StaticPods({
        ...hostPorts,
        log,
        net: systemNet,
        nodeName: 'node-a',
        directory,
        runtime,
        ...(backoff && { backoff }),
        hostAddress: () => '127.0.0.1',
      })
      agents.add(pods)
      pods.start()
      return { pods, runtime, end: () => pods.stop().then(() => agents.delete(pods)) }
    },
    /** Ends the agents, then every container, and removes the folder. */
    async close() {
      for (const agent of agents) await agent.stop()
      await kind.clear(stateDirectory)
      folder.remove()
    },
  }
  return machine
}

/** The status of the pod that the manifest calls `name`. */
export function statusOf(pods: StaticPods, name: string) {
  const view = pods.views().find(({ pod }) => pod.metadata.name === `${name}-node-a`)
  return view && podStatus(view, '127.0.0.1')
}

export const stateOf = (pods: StaticPods, name: string) => statusOf(pods, name)?.containerStatuses[0]?.state

/** A test's body on a machine of its own; `kind` is asked for when the test runs. */
export const onMachine =
  (run: (machine: Machine) => Promise<void>, kind: () => MachineRuntime = () => processes) =>
  async (): Promise<void> => {
    const machine = staticPodMachine(kind())
    try {
      await run(machine)
    } finally {
      await machine.close()
    }
  }
