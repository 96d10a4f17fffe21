import assert from 'node:assert/strict'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { parse } from 'yaml'
import { kubeconfigConnection } from '../src/cli/connect-kubeconfig.ts'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { createClient } from '../src/kube/client.ts'
import { parseKubeconfig, selectContext } from '../src/kube/kubeconfig.ts'
import { connectUndici } from '../src/kube/undici-transport.ts'
import { podResource } from '../src/pods/pod.ts'
import type { ApiPod } from '../src/pods/status/mirror-pod.ts'
import type { StaticPodReport } from '../src/pods/status/pod-report.ts'
import { withTimeout } from '../src/ports.ts'
import { eventually } from './support/eventually.ts'
import { freePort } from './support/free-port.ts'
import { executable, type RollcallProcess, runRollcall, startRollcall } from './support/rollcall-process.ts'
import { staticPodMachine } from './support/static-pods.ts'

// The real agent with static pods of the runtime "process": what joins with what while nothing else is there.

type Machine = ReturnType<typeof staticPodMachine> & {
  start(...args: string[]): RollcallProcess
  agent(...args: string[]): RollcallProcess
  /** What `rollcall pods -o json` says. */
  report(): Promise<StaticPodReport>
}

function onMachine(name: string, run: (machine: Machine) => Promise<void>): void {
  test(name, async () => {
    const base = staticPodMachine()
    const started: RollcallProcess[] = []
    const start = (...args: string[]) => {
      const process = startRollcall(args)
      started.push(process)
      return process
    }
    const machine: Machine = {
      ...base,
      start,
      agent: (...args) =>
        start(
          ...['agent', '--node', 'node-a', '--node-ip', '127.0.0.1', '--address', '127.0.0.1', '--port', '0'],
          ...['--kubeconfig', base.in('kubeconfig'), '--cert-dir', base.in('pki'), '--rotate-certificates'],
          ...['--static-pods', base.directory, '--static-pods-state', base.stateDirectory],
          ...['--runtime', 'process', '--static-pods-as-root', ...args],
        ),
      async report() {
        const { stdout, stderr } = await runRollcall(['pods', '--state', base.stateDirectory, '-o', 'json'])
        assert.equal(stderr, '')
        return JSON.parse(stdout) as StaticPodReport
      },
    }
    try {
      await run(machine)
    } finally {
      for (const process of started.reverse()) await process.stop()
      await base.close()
    }
  })
}

/** A promise that no test waits for in vain. */
const within = <T>(promise: Promise<T>) =>
  withTimeout(hostPorts.clock, 45_000, promise, () => new Error('not within 45 s'))

const example = (path: string) => fileURLToPath(new URL(`../examples/${path}`, import.meta.url))

interface Manifest {
  spec: {
    containers: { command: string[]; env: { name: string; value: string }[]; [field: string]: unknown }[]
  }
}

/** The manifest of an example, with its container changed to this machine. */
function exampleManifest(
  path: string,
  change: (container: Manifest['spec']['containers'][0]) => void,
): string {
  const manifest = parse(readFileSync(example(path), 'utf8')) as Manifest
  const [container] = manifest.spec.containers
  assert.ok(container)
  change(container)
  return JSON.stringify(manifest)
}

onMachine(
  'a static pod serves the credential; it is up and asked while the API is down, and then the node joins',
  async machine => {
    const [port, directory] = [await freePort(), machine.in('server')]
    const control = ['server', '--dir', directory, '--port', String(port)]
    const first = machine.start(...control)
    await within(first.ready)
    await first.stop()

    const socket = machine.in('plugin/plugin.sock')
    const bootstrap = join(directory, 'bootstrap.kubeconfig')
    const { user } = selectContext(parseKubeconfig(readFileSync(bootstrap, 'utf8'), bootstrap))
    writeFileSync(machine.in('token'), user.token?.reveal() ?? '')
    machine.writeText(
      'plugin.json',
      exampleManifest('static-pod-credential-plugin/pod.yaml', container => {
        container.command = [process.execPath, example('static-pod-credential-plugin/credential-plugin.mjs')]
        const values: Record<string, string> = {
          SOCKET: socket,
          SERVER: `https://127.0.0.1:${port}`,
          TOKEN_FILE: machine.in('token'),
          CA_FILE: join(directory, 'pki/ca.crt'),
        }
        container.env = Object.entries(values).map(([name, value]) => ({ name, value }))
        container.readinessProbe = { exec: { command: ['/usr/bin/test', '-S', socket] }, periodSeconds: 1 }
      }),
    )
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

    // Then the pod shows in the API, and comes back there when it is deleted.
    const kubeconfig = join(directory, 'admin.kubeconfig')
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
    await client.delete(podResource, { namespace: 'kube-system', name: mirror.metadata.name })
    await eventually(
      'it is back',
      async () =>
        (await get())?.metadata.uid !== mirror.metadata.uid && (await get())?.status?.phase === 'Running',
    )
    machine.remove('plugin.json')
    await eventually('it is gone with its manifest', async () => (await get()) === undefined)
    transport.closeConnections()
  },
)

onMachine('the control plane is a static pod, and the node that runs it joins it', async machine => {
  const [port, directory] = [await freePort(), machine.in('server')]
  machine.writeText(
    'control-plane.json',
    exampleManifest('static-pod-control-plane/pod.yaml', container => {
      container.command = [executable, 'server', '--dir', directory, '--port', String(port)]
      const probe = {
        httpGet: { scheme: 'HTTPS', host: '127.0.0.1', port, path: '/livez' },
        periodSeconds: 1,
      }
      container.startupProbe = { ...probe, failureThreshold: 60 }
      container.livenessProbe = { ...probe, failureThreshold: 8, timeoutSeconds: 15 }
    }),
  )
  const agent = machine.agent('--bootstrap-kubeconfig', join(directory, 'bootstrap.kubeconfig'))
  await within(agent.ready)
  const { pods } = await machine.report()
  assert.deepEqual(
    pods.map(({ status }) => status.phase),
    ['Running'],
  )
})

onMachine('kill -9 and a restart of the agent leave the container alone', async machine => {
  machine.write({ name: 'web', script: `echo up $$$$ >>${machine.in('web')}; while :; do sleep 0.05; done` })
  const first = machine.agent()
  await eventually('it runs', () => machine.lines('web').length === 1)
  const before = (await eventually('it is reported', () => machine.report().catch(() => undefined))).pods
  first.child.kill('SIGKILL')
  await first.ended
  const second = machine.agent()
  await eventually('it was taken over', () => second.stderr().includes('was taken over'))
  const after = await eventually('it is reported', async () => {
    const { pods } = await machine.report()
    return pods[0]?.status.phase === 'Running' && pods
  })
  assert.deepEqual(
    after[0]?.status.containerStatuses[0]?.containerID,
    before[0]?.status.containerStatuses[0]?.containerID,
  )
  assert.equal(machine.lines('web').length, 1)
})

onMachine(
  'a second agent on the same state runs nothing, says who does, and takes over when that one has gone',
  async machine => {
    machine.write({ name: 'web', script: `echo up >>${machine.in('web')}; while :; do sleep 0.05; done` })
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
  },
)

onMachine(
  'everything absent at once: the pod runs, the agent stays, and says what it lacks',
  async machine => {
    machine.write({ name: 'web', script: `echo up >>${machine.in('web')}; while :; do sleep 0.05; done` })
    const agent = machine.agent(
      ...[
        '--bootstrap-kubeconfig',
        machine.in('no/such/file'),
        '--credential-plugin',
        machine.in('no/such.sock'),
      ],
    )
    await eventually('it runs', () => machine.lines('web').length === 1)
    await eventually('it says why', () => agent.stderr().includes('No bootstrap credential can be had'))
    assert.equal(agent.child.exitCode, null)
  },
)

test('--static-pods without --runtime, and a runtime without a socket, are refused with the reason', async () => {
  const plain = await runRollcall(['agent', '--static-pods', '/nowhere'])
  assert.deepEqual([plain.code, plain.stdout], [2, ''])
  assert.match(plain.stderr, /--static-pods: say how they are to be run: --runtime cri/)
  const tcp = ['--container-runtime-endpoint', 'tcp://127.0.0.1:1']
  const cri = await runRollcall(['agent', '--static-pods', '/nowhere', '--runtime', 'cri', ...tcp])
  assert.equal(cri.code, 2)
  assert.match(cri.stderr, /Give unix:\/\/\/path/)
})
