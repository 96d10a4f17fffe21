import assert from 'node:assert/strict'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { kubeconfigConnection } from '../../src/cli/connect-kubeconfig.ts'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { createClient } from '../../src/kube/client.ts'
import { parseKubeconfig, selectContext } from '../../src/kube/kubeconfig.ts'
import { type KubeNode, resources } from '../../src/kube/types.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import { podResource } from '../../src/pods/pod.ts'
import type { ApiPod } from '../../src/pods/status/mirror-pod.ts'
import type { StaticPodReport } from '../../src/pods/status/pod-report.ts'
import { withTimeout } from '../../src/ports.ts'
import { eventually } from './eventually.ts'
import { freePort } from './free-port.ts'
import { executable, type RollcallProcess, runRollcall, startRollcall } from './rollcall-process.ts'
import { type Machine, type MachineRuntime, staticPodMachine } from './static-pods.ts'

// The real agent with static pods: what joins with what while nothing else is there. Bodies of tests for every runtime.

export interface JoinRuntime extends MachineRuntime {
  /** What the agent is told of it. */
  flags: string[]
  /** How the Node shows it. */
  version: RegExp
  /** The manifest of this runtime in a folder of examples/. */
  manifest: string
}

export interface JoinMachine extends Machine {
  start(...args: string[]): RollcallProcess
  agent(...args: string[]): RollcallProcess
  /** Laid over the environment of each agent that is started from now on. */
  agentEnvironment: Record<string, string>
  /** What `rollcall pods -o json` says. */
  report(): Promise<StaticPodReport>
  version: RegExp
  /** An example's manifest, with what it says of paths and addresses changed to this machine. */
  example(folder: string, changes: Record<string, string>): void
}

/** The body of a test on a machine of this runtime. */
export function onJoinMachine(
  kind: () => JoinRuntime,
  run: (machine: JoinMachine) => Promise<void>,
): () => Promise<void> {
  return async () => {
    const { flags, manifest, version } = kind()
    const base = staticPodMachine(kind())
    const started: RollcallProcess[] = []
    const startIn = (environment: Record<string, string>, args: string[]) => {
      const process = startRollcall(args, environment)
      started.push(process)
      return process
    }
    const machine: JoinMachine = {
      ...base,
      version,
      start: (...args) => startIn({}, args),
      agentEnvironment: {},
      agent: (...args) =>
        startIn(machine.agentEnvironment, [
          ...['agent', '--node', 'node-a', '--node-ip', '127.0.0.1', '--address', '127.0.0.1', '--port', '0'],
          ...['--kubeconfig', base.in('kubeconfig'), '--cert-dir', base.in('pki'), '--rotate-certificates'],
          ...['--static-pods', base.directory, '--static-pods-state', base.stateDirectory],
          ...[...flags, ...args],
        ]),
      async report() {
        const { stdout, stderr } = await runRollcall(['pods', '--state', base.stateDirectory, '-o', 'json'])
        assert.equal(stderr, '')
        return JSON.parse(stdout) as StaticPodReport
      },
      example(folder, changes) {
        let text = readFileSync(join(examples, folder, manifest), 'utf8')
        for (const [from, to] of Object.entries(changes)) text = text.replaceAll(from, to)
        base.writeText('example.yaml', text)
      },
    }
    try {
      await run(machine)
    } finally {
      for (const process of started.reverse()) await process.stop()
      await base.close()
    }
  }
}

const examples = fileURLToPath(new URL('../../examples', import.meta.url))

/** A promise that no test waits for in vain. */
const within = <T>(promise: Promise<T>) =>
  withTimeout(hostPorts.clock, 45_000, promise, () => new Error('not within 45 s'))

/** T1: a static pod serves the credential; it is up and asked while the API is down, and then the node joins. */
export async function credentialFromAPod(machine: JoinMachine): Promise<void> {
  const [port, directory] = [await freePort(), machine.in('server')]
  const control = ['server', '--dir', directory, '--port', String(port)]
  const first = machine.start(...control)
  await within(first.ready)
  await first.stop()

  const socket = machine.in('plugins/example/plugin.sock')
  const bootstrap = join(directory, 'bootstrap.kubeconfig')
  const { user } = selectContext(parseKubeconfig(readFileSync(bootstrap, 'utf8'), bootstrap))
  mkdirSync(machine.in('credential'))
  writeFileSync(machine.in('credential/token'), user.token?.reveal() ?? '')
  writeFileSync(machine.in('credential/ca.crt'), readFileSync(join(directory, 'pki/ca.crt')))
  machine.example('static-pod-credential-plugin', {
    // In a container the image has its own.
    '[node, /opt/rollcall': `[${process.execPath}, /opt/rollcall`,
    '/opt/rollcall': join(examples, 'static-pod-credential-plugin'),
    '/run/rollcall/plugins': machine.in('plugins'),
    '/etc/rollcall': machine.in('credential'),
    'https://192.0.2.1:6443': `https://127.0.0.1:${port}`,
  })
  // No API, no bootstrap kubeconfig, no kubeconfig, no certificate.
  const agent = machine.agent('--credential-plugin', `${socket},pod=kube-system/credential-plugin`)
  const logs = () => runRollcall(['pods', 'logs', 'credential-plugin', '--state', machine.stateDirectory])
  await eventually('the plugin was asked', async () =>
    (await logs()).stdout.includes('node-a asks for a credential: initial'),
  )
  const { pods } = await machine.report()
  assert.deepEqual(
    pods.map(({ name, status }) => [name, status.phase]),
    [['credential-plugin-node-a', 'Running']],
  )

  const second = machine.start(...control)
  await within(second.ready)
  await within(agent.ready)
  await mirrorPodLives(machine, join(directory, 'admin.kubeconfig'))
}

/** The pod shows in the API, comes back there when it is deleted, and goes with its manifest. */
async function mirrorPodLives(machine: JoinMachine, kubeconfig: string): Promise<void> {
  const transport = connectUndici(
    await kubeconfigConnection({ kubeconfig }, { environment: {}, ...hostPorts }),
  )
  const client = createClient(transport)
  const get = () =>
    client
      .get<ApiPod>(podResource, { namespace: 'kube-system', name: 'credential-plugin-node-a' })
      .catch(() => undefined)
  const mirror = await eventually('the mirror pod is ready', async () => {
    const pod = await get()
    return pod?.status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') && pod
  })
  const shown = await eventually('the Node says what runs its pods', async () => {
    const node = await client.get<KubeNode>(resources.nodes, { name: 'node-a' }).catch(() => undefined)
    const version = node?.status?.nodeInfo?.containerRuntimeVersion
    return machine.version.test(version ?? '') && version
  })
  assert.ok(shown)
  await client.delete(podResource, { namespace: 'kube-system', name: mirror.metadata.name })
  await eventually('it is back', async () => {
    const pod = await get()
    return pod?.metadata.uid !== mirror.metadata.uid && pod?.status?.phase === 'Running'
  })
  machine.remove('example.yaml')
  await eventually('it is gone with its manifest', async () => (await get()) === undefined)
  transport.closeConnections()
}

/** T2: the control plane is a static pod, and the node that runs it joins it. */
export async function controlPlaneIsAPod(machine: JoinMachine): Promise<void> {
  const [port, directory] = [await freePort(), machine.in('server')]
  machine.example('static-pod-control-plane', {
    '/usr/bin/rollcall': executable,
    '/var/lib/rollcall/control-plane': directory,
    '"6443"': `"${port}"`,
    '6443': String(port),
    // A crowded machine is slow.
    'failureThreshold: 24': 'failureThreshold: 60',
  })
  const agent = machine.agent('--bootstrap-kubeconfig', join(directory, 'bootstrap.kubeconfig'))
  await within(agent.ready)
  const { pods } = await machine.report()
  assert.deepEqual(
    pods.map(({ status }) => status.phase),
    ['Running'],
  )
}

/** T4: kill -9 and a restart of the agent leave the container alone. */
export async function survivesKill(machine: JoinMachine): Promise<void> {
  machine.write({ name: 'web', script: machine.service('web') })
  const first = machine.agent()
  await eventually('it runs', () => machine.lines('web').length === 1)
  const running = () =>
    eventually('it is reported', async () => {
      const report = await machine.report().catch(() => undefined)
      return report?.pods[0]?.status.phase === 'Running' && report.pods
    })
  const before = await running()
  first.child.kill('SIGKILL')
  await first.ended
  const second = machine.agent()
  await eventually('it was taken over', () => second.stderr().includes('was taken over'))
  const after = await running()
  assert.deepEqual(
    after[0]?.status.containerStatuses[0]?.containerID,
    before[0]?.status.containerStatuses[0]?.containerID,
  )
  assert.equal(machine.lines('web').length, 1)
}

/** A second agent on the same state runs nothing, says who does, and takes over when that one has gone. */
export async function oneAgentOnly(machine: JoinMachine): Promise<void> {
  machine.write({ name: 'web', script: machine.service('web') })
  const first = machine.agent()
  await eventually('it runs', () => machine.lines('web').length === 1)
  const second = machine.agent()
  await eventually('it says who', () =>
    second.stderr().includes(`Another agent (process ${first.child.pid})`),
  )
  assert.equal(machine.lines('web').length, 1)
  await first.stop()
  await eventually('it was taken over', () => second.stderr().includes('was taken over'))
  assert.equal(machine.lines('web').length, 1)
}

/** T1: everything absent at once: the pod runs, the agent stays, and says what it lacks. */
export async function everythingAbsent(machine: JoinMachine): Promise<void> {
  machine.write({ name: 'web', script: machine.service('web') })
  const agent = machine.agent(
    ...['--bootstrap-kubeconfig', machine.in('no/such/file')],
    ...['--credential-plugin', machine.in('no/such.sock')],
  )
  await eventually('it runs', () => machine.lines('web').length === 1)
  await eventually('it says why', () => agent.stderr().includes('No bootstrap credential can be had'))
  assert.equal(agent.child.exitCode, null)
}
