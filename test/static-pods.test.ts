import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { hostPorts } from '../src/cluster/host-ports.ts'
import type { StaticPods } from '../src/pods/static-pods.ts'
import { podStatus } from '../src/pods/status/pod-status.ts'
import { eventually } from './support/eventually.ts'
import { staticPodMachine } from './support/static-pods.ts'

// Acceptance tests of static pods on the runtime "process", with real processes and no API at all (static-pods.md 8).

type Machine = ReturnType<typeof staticPodMachine>

function onMachine(name: string, run: (machine: Machine) => Promise<void>): void {
  test(name, async () => {
    const machine = staticPodMachine()
    try {
      await run(machine)
    } finally {
      await machine.close()
    }
  })
}

/** Writes its process id (`$$` is Kubernetes' way to write `$`), then waits; answers TERM by writing `stopped`. */
const service = (machine: Machine, name: string, greeting = 'up') =>
  `trap 'echo stopped >>${machine.in(name)}; exit 0' TERM; echo ${greeting} $$$$ >>${machine.in(name)}; while :; do sleep 0.05; done`

const statusOf = (pods: StaticPods, name: string) => {
  const view = pods.views().find(({ pod }) => pod.metadata.name === `${name}-node-a`)
  return view && podStatus(view, '127.0.0.1')
}
const stateOf = (pods: StaticPods, name: string) => statusOf(pods, name)?.containerStatuses[0]?.state

onMachine('a pod starts, an edit replaces it and a removal ends it, with no API anywhere', async machine => {
  machine.write({ name: 'web', script: service(machine, 'web') })
  const { pods, runtime } = machine.startAgent()
  await eventually('the pod runs', () => machine.lines('web').length === 1)
  assert.equal(statusOf(pods, 'web')?.phase, 'Running')

  machine.write({ name: 'web', script: service(machine, 'web', 'edited') })
  const [first, ...more] = await eventually('the edit runs', () => {
    const lines = machine.lines('web')
    return lines.length >= 3 && lines
  })
  assert.match(first ?? '', /^up \d+$/)
  assert.deepEqual(
    more.map(line => line.split(' ')[0]),
    ['stopped', 'edited'],
    'the old one has ended before the new one starts',
  )

  machine.remove('web.json')
  await eventually('the pod has ended', () => machine.lines('web').length === 4)
  await eventually('nothing is left', () => runtime.containers().length === 0 && runtime.pods().length === 0)
  assert.deepEqual(await hostPorts.disk.list(`${machine.stateDirectory}/pods`), [])
})

onMachine(
  'the pod outlives its agent; the next one finds the same container and hears how it ends',
  async machine => {
    machine.write({ name: 'web', script: `${service(machine, 'web').replace('exit 0', 'exit 7')}` })
    const first = machine.startAgent()
    const [line] = await eventually(
      'the pod runs',
      () => machine.lines('web').length > 0 && machine.lines('web'),
    )
    const before = first.runtime.containers().map(({ id, attempt }) => ({ id, attempt }))
    await first.end()

    const second = machine.startAgent()
    await eventually('it was taken over', () => statusOf(second.pods, 'web')?.phase === 'Running')
    assert.deepEqual(
      second.runtime.containers().map(({ id, attempt }) => ({ id, attempt })),
      before,
    )
    assert.deepEqual(machine.lines('web'), [line])
    process.kill(Number(line?.split(' ')[1]), 'SIGTERM')
    const [restarted] = await eventually('it was started again', () => {
      const records = second.runtime.containers()
      return records.length === 2 && records.filter(({ state }) => state === 'Exited')
    })
    assert.deepEqual([restarted?.exitCode, restarted?.reason], [7, 'Error'])
  },
)

onMachine(
  'what ended while no agent was there is known by its exit code; Never stays ended',
  async machine => {
    const script = `while [ ! -e ${machine.in('go')} ]; do sleep 0.02; done; exit 3`
    machine.write({ name: 'job', script, spec: { restartPolicy: 'Never' } })
    const first = machine.startAgent()
    await eventually('it runs', () => statusOf(first.pods, 'job')?.phase === 'Running')
    const [record] = first.runtime.containers()
    await first.end()
    machine.note('go', '')
    const exit = `${first.runtime.logPath(record!).slice(0, -'.log'.length)}/exit`
    await eventually('it has ended', () =>
      hostPorts.disk.stat(exit).then(
        ({ size }) => size > 0,
        () => false,
      ),
    )

    const second = machine.startAgent()
    await eventually('the end is known', () => statusOf(second.pods, 'job')?.phase === 'Failed')
    const { terminated } = stateOf(second.pods, 'job') as { terminated: { exitCode: number } }
    assert.equal(terminated.exitCode, 3)
    assert.equal(second.runtime.containers().length, 1)
  },
)

onMachine('a container that crashes starts again at once, then waits as CrashLoopBackOff', async machine => {
  machine.write({ name: 'web', script: `echo run >>${machine.in('runs')}; exit 1` })
  const { pods, runtime } = machine.startAgent()
  await eventually('it waits', () => 'waiting' in (stateOf(pods, 'web') ?? {}))
  const { waiting } = stateOf(pods, 'web') as { waiting: { reason: string } }
  assert.equal(waiting.reason, 'CrashLoopBackOff')
  assert.deepEqual(machine.lines('runs'), ['run', 'run'])
  assert.deepEqual(
    runtime.containers().map(({ attempt, exitCode }) => [attempt, exitCode]),
    [
      [0, 1],
      [1, 1],
    ],
  )
})

onMachine('an agent that is restarted does not restart the crash loop', async machine => {
  machine.write({ name: 'web', script: `echo run >>${machine.in('runs')}; exit 1` })
  const first = machine.startAgent()
  await eventually('it waits', () => 'waiting' in (stateOf(first.pods, 'web') ?? {}))
  await first.end()
  const second = machine.startAgent()
  await eventually('it still waits', () => 'waiting' in (stateOf(second.pods, 'web') ?? {}))
  assert.deepEqual(machine.lines('runs'), ['run', 'run'])
})

onMachine(
  'a container whose liveness probe fails is stopped and started again; readiness follows its probe',
  async machine => {
    let healthy = true
    const server = createServer((_, response) => response.writeHead(healthy ? 200 : 500).end())
    await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
    const { port } = server.address() as AddressInfo
    try {
      const probe = { httpGet: { port, path: '/healthz' }, periodSeconds: 1, failureThreshold: 1 }
      machine.write({
        name: 'web',
        script: service(machine, 'web'),
        container: {
          livenessProbe: probe,
          readinessProbe: { exec: { command: ['/bin/sh', '-c', 'true'] }, periodSeconds: 1 },
        },
      })
      const { pods } = machine.startAgent()
      await eventually('it is ready', () => pods.whyNotReady('default/web') === undefined)
      healthy = false
      await eventually('it was stopped', () => machine.lines('web').includes('stopped'))
      healthy = true
      await eventually(
        'it runs again',
        () => machine.lines('web').filter(line => line.startsWith('up')).length === 2,
      )
      assert.equal(statusOf(pods, 'web')?.containerStatuses[0]?.restartCount, 1)
    } finally {
      await new Promise(resolve => server.close(resolve))
    }
  },
)

onMachine('bad and duplicate manifests are reported and disturb nobody', async machine => {
  machine.write({ name: 'web', script: service(machine, 'web') }, 'b.json')
  const { pods, runtime } = machine.startAgent()
  await eventually('it runs', () => machine.lines('web').length === 1)
  machine.writeText('broken.yaml', 'apiVersion: [')
  machine.writeText('notes.txt', 'hello')
  machine.write({ name: 'web', script: 'exit 9' }, 'a.json')
  await eventually('all three are reported', () => pods.findings().length === 3)
  assert.deepEqual(
    pods.findings().map(({ path, reason }) => [path.split('/').at(-1), reason]),
    [
      ['broken.yaml', 'Malformed'],
      ['notes.txt', 'IgnoredFile'],
      ['a.json', 'Duplicate'],
    ],
  )
  machine.writeText('b.json', '{')
  await eventually('the broken edit is reported', () => pods.findings().length === 4)
  assert.deepEqual(
    runtime.containers().map(({ state, attempt }) => [state, attempt]),
    [['Running', 0]],
  )
  assert.deepEqual(machine.lines('web').length, 1)
})

onMachine(
  'a container that ignores TERM is killed after its grace period, with all that it started',
  async machine => {
    const script = `trap '' TERM; sh -c 'echo $$$$ >>${machine.in('ids')}; while :; do sleep 0.05; done' & echo $$$$ >>${machine.in('ids')}; while :; do sleep 0.05; done`
    machine.write({ name: 'web', script, spec: { terminationGracePeriodSeconds: 1 } })
    const { runtime } = machine.startAgent()
    const ids = await eventually('both run', () => machine.lines('ids').length === 2 && machine.lines('ids'))
    machine.remove('web.json')
    await eventually('nothing is left', () => runtime.containers().length === 0)
    await eventually('both have ended', () => ids.every(id => !runs(Number(id))))
  },
)

onMachine(
  'an agent that ends does not wait for a container that is being stopped; the next one goes on',
  async machine => {
    const script = `trap 'echo term >>${machine.in('web')}' TERM; echo up >>${machine.in('web')}; while :; do sleep 0.05; done`
    machine.write({ name: 'web', script, spec: { terminationGracePeriodSeconds: 3600 } })
    const first = machine.startAgent()
    await eventually('it runs', () => machine.lines('web').length === 1)
    machine.remove('web.json')
    await eventually('it was told to stop', () => machine.lines('web').includes('term'))
    await first.end()

    const second = machine.startAgent()
    await eventually(
      'it was told again',
      () => machine.lines('web').filter(line => line === 'term').length === 2,
    )
    assert.equal(second.runtime.containers()[0]?.state, 'Running')
  },
)

onMachine(
  'a directory of manifests that comes late, or another one in its place, is followed',
  async machine => {
    rmSync(machine.directory, { recursive: true })
    machine.startAgent()
    mkdirSync(machine.directory)
    machine.write({ name: 'web', script: service(machine, 'web') })
    await eventually('it runs', () => machine.lines('web').length === 1)
    renameSync(machine.directory, machine.in('old'))
    await eventually('its manifest is gone', () => machine.lines('web').includes('stopped'))
    mkdirSync(machine.directory)
    machine.write({ name: 'web', script: service(machine, 'web') })
    await eventually('it runs again', () => machine.lines('web').length === 3)
  },
)

onMachine('a program that is not there is ContainerCannotRun, a folder too', async machine => {
  machine.write({ name: 'a', script: '', container: { command: ['/no/such/program'] } })
  machine.write({ name: 'b', script: 'exit 0', container: { workingDir: '/no/such/folder' } })
  const { pods } = machine.startAgent()
  for (const name of ['a', 'b']) {
    const state = await eventually(name, () => {
      const { terminated } = (statusOf(pods, name)?.containerStatuses[0]?.lastState ?? {}) as {
        terminated?: { reason: string }
      }
      return terminated
    })
    assert.equal(state.reason, 'ContainerCannotRun')
  }
})

onMachine(
  'init containers run before the containers, and a pod waits for the socket that another one makes',
  async machine => {
    machine.write({
      name: 'late',
      script: service(machine, 'late'),
      spec: {
        initContainers: [
          { name: 'first', image: 'host', command: ['/bin/sh', '-c', `echo init >>${machine.in('late')}`] },
        ],
        containers: [{ name: 'main', image: 'host', command: ['/bin/sh', '-c', service(machine, 'late')] }],
        volumes: [{ name: 'socket', hostPath: { path: machine.in('socket'), type: 'Socket' } }],
      },
    })
    const { pods } = machine.startAgent()
    await eventually('it says what it waits for', () =>
      statusOf(pods, 'late')?.message?.includes('is not there'),
    )
    const server = createServer()
    await new Promise<void>(resolve => server.listen(machine.in('socket'), resolve))
    try {
      const lines = await eventually(
        'it runs',
        () => machine.lines('late').length === 2 && machine.lines('late'),
      )
      assert.equal(lines[0], 'init')
    } finally {
      await new Promise(resolve => server.close(resolve))
    }
  },
)

onMachine(
  'a container gets its own environment and nothing of the agent’s; $(NAME) is expanded; the log is kept',
  async machine => {
    machine.write({
      name: 'env',
      script: '/usr/bin/env; echo "$0"',
      spec: {
        restartPolicy: 'Never',
        containers: [
          {
            name: 'main',
            image: 'host',
            command: ['/bin/sh', '-c', '/usr/bin/env | sort; echo "arg $0"'],
            args: ['$(POD)-$(UNKNOWN)-$$(POD)'],
            env: [
              { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
              { name: 'GREETING', value: 'hello $(POD)' },
            ],
          },
        ],
      },
    })
    const { pods, runtime } = machine.startAgent()
    await eventually('it has ended', () => statusOf(pods, 'env')?.phase === 'Succeeded')
    const log = readFileSync(runtime.logPath(runtime.containers()[0]!), 'utf8').split('\n').filter(Boolean)
    const names = log.filter(line => line.includes('=')).map(line => line.split('=')[0])
    assert.deepEqual(
      names.filter(name => !['PWD', 'SHLVL', '_', 'OLDPWD'].includes(name ?? '')),
      ['GREETING', 'HOSTNAME', 'PATH', 'POD'],
    )
    assert.ok(log.includes('GREETING=hello env-node-a'))
    assert.equal(log.at(-1), 'arg env-node-a-$(UNKNOWN)-$(POD)')
  },
)

onMachine(
  'as root a process gets its volumes where it wants them, read-only too, and nobody else sees them',
  async machine => {
    mkdirSync(machine.in('source'))
    mkdirSync(machine.in('target'))
    mkdirSync(machine.in('scratch'))
    machine.note('source/file', 'hello\n')
    const script = `
    cat ${machine.in('target/file')}
    echo no >${machine.in('target/new')} || echo read-only
    echo mine >${machine.in('scratch/file')} && cat ${machine.in('scratch/file')}
    echo init left $(cat ${machine.in('scratch/init')})`
    const scratch = { name: 'scratch', mountPath: machine.in('scratch') }
    machine.write({
      name: 'web',
      script,
      spec: {
        restartPolicy: 'Never',
        securityContext: { runAsUser: 65_534 },
        volumes: [
          { name: 'data', hostPath: { path: machine.in('source'), type: 'Directory' } },
          { name: 'scratch', emptyDir: {} },
        ],
        initContainers: [
          {
            name: 'init',
            image: 'host',
            command: ['/bin/sh', '-c', `echo it >${machine.in('scratch/init')}`],
            volumeMounts: [scratch],
          },
        ],
        containers: [
          {
            name: 'main',
            image: 'host',
            command: ['/bin/sh', '-c', script],
            volumeMounts: [{ name: 'data', mountPath: machine.in('target'), readOnly: true }, scratch],
          },
        ],
      },
    })
    chmodSync(machine.path, 0o755)
    const { pods, runtime } = machine.startAgent()
    if (process.getuid?.() !== 0) {
      await eventually('it is refused', () => statusOf(pods, 'web')?.reason === 'Unsupported')
      return
    }
    const status = await eventually(
      'it has ended',
      () => statusOf(pods, 'web')?.containerStatuses[0]?.state.terminated,
    )
    const record = runtime.containers().find(({ container }) => container === 'main')
    const log = readFileSync(runtime.logPath(record!), 'utf8')
    assert.equal((status as { exitCode: number }).exitCode, 0, log)
    const lines = log.split('\n').filter(line => !line.includes('Read-only file system'))
    assert.deepEqual(lines, ['hello', 'read-only', 'mine', 'init left it', ''])
    assert.deepEqual(await hostPorts.disk.list(machine.in('target')), [], 'the mount is the process’s own')
    machine.remove('web.json')
    await eventually(
      'its volumes are gone',
      async () => (await hostPorts.disk.list(`${machine.stateDirectory}/volumes`)).length === 0,
    )
  },
)

onMachine('never as root unless told, and runAsUser is obeyed', async machine => {
  const whoami = (name: string) => `/usr/bin/id -u >${machine.in(name)}; while :; do sleep 0.05; done`
  machine.write({ name: 'root', script: whoami('root') })
  const { pods, end } = machine.startAgent({ allowRoot: false })
  if (process.getuid?.() === 0) {
    await eventually('it is refused', () => statusOf(pods, 'root')?.message?.includes('would run as root'))
    assert.equal(statusOf(pods, 'root')?.reason, 'Unsupported')
    const script = '/usr/bin/id -u; /usr/bin/id -G; /bin/grep NoNewPrivs /proc/self/status'
    machine.write({
      name: 'nobody',
      script,
      spec: { restartPolicy: 'Never', securityContext: { runAsUser: 65_534 } },
    })
    await eventually('it ran', () => statusOf(pods, 'nobody')?.phase === 'Succeeded')
    const { containerID } = statusOf(pods, 'nobody')?.containerStatuses[0] ?? {}
    const path = `${machine.stateDirectory}/pods/default_nobody-node-a_${containerID?.split('/')[2]}/main/0.log`
    assert.deepEqual(readFileSync(path, 'utf8').split('\n'), ['65534', '65534', 'NoNewPrivs:\t1', ''])
  } else {
    await eventually('it runs as we do', () => machine.lines('root')[0] === String(process.getuid?.()))
    machine.write({ name: 'other', script: 'exit 0', spec: { securityContext: { runAsUser: 65_534 } } })
    await eventually('it is refused', () => statusOf(pods, 'other')?.reason === 'Unsupported')
  }
  await end()
})

function runs(processId: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${processId}/stat`, 'utf8'))
  } catch {
    return false
  }
}
