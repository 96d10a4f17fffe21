import { appendFileSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { systemCode } from '../../src/errors.ts'
import { systemNet } from '../../src/host/net.ts'
import { systemSpawn } from '../../src/host/spawn.ts'
import type { RestartBackoff } from '../../src/pods/lifecycle/restart-backoff.ts'
import { isRunning, parseIdentity } from '../../src/pods/process/process-identity.ts'
import { ProcessRuntime } from '../../src/pods/process/process-runtime.ts'
import { StaticPods } from '../../src/pods/static-pods.ts'
import { recordingLog } from '../../src/testing/recording-log.ts'
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

function scriptedPod({ name, script, container = {}, spec = {}, metadata = {} }: ScriptedPod): object {
  return {
    apiVersion: 'v1',
    kind: 'Pod',
    metadata: { name, ...metadata },
    spec: {
      hostNetwork: true,
      terminationGracePeriodSeconds: 2,
      containers: [{ name: 'main', image: 'host', command: ['/bin/sh', '-c', script], ...container }],
      ...spec,
    },
  }
}

/** A folder with manifests and state, and the static pods of agents that come and go on it. */
export function staticPodMachine() {
  const folder = temporaryFolder()
  const directory = join(folder.path, 'manifests')
  const stateDirectory = join(folder.path, 'state')
  mkdirSync(directory)
  const agents = new Set<StaticPods>()
  const machine = {
    path: folder.path,
    directory,
    stateDirectory,
    log: recordingLog(),
    in: (name: string) => join(folder.path, name),
    write(pod: ScriptedPod, file = `${pod.name}.json`) {
      writeFileSync(join(directory, file), JSON.stringify(scriptedPod(pod)))
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
    /** An agent's static pods; `end` is what the end of its process leaves: the pods go on. */
    startAgent({ allowRoot = true, backoff }: { allowRoot?: boolean; backoff?: RestartBackoff } = {}) {
      const ports = { ...hostPorts, log: machine.log }
      const node = () => ({ nodeName: 'node-a', hostAddress: '127.0.0.1' })
      const runtime = new ProcessRuntime({ ...ports, spawn: systemSpawn, stateDirectory, allowRoot, node })
      const pods = new StaticPods({
        ...ports,
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
    /** Ends the agents, then every container by the identity that its shim left, and removes the folder. */
    async close() {
      for (const agent of agents) await agent.stop()
      for (const file of globSync('pods/*/*/*/process', { cwd: stateDirectory })) {
        const identity = parseIdentity(readFileSync(join(stateDirectory, file), 'utf8'))
        if (identity && (await isRunning(identity, hostPorts.disk)))
          systemSpawn.signal(-identity.processId, 'SIGKILL')
      }
      folder.remove()
    },
  }
  return machine
}
