import assert from 'node:assert/strict'
import { chmodSync, mkdirSync, readFileSync } from 'node:fs'
import { test } from 'node:test'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { eventually } from './support/eventually.ts'
import * as acceptance from './support/pod-acceptance.ts'
import { type Machine, onMachine as on, statusOf } from './support/static-pods.ts'

// Acceptance tests of static pods on the runtime "process", with real processes and no API at all (static-pods.md 8). What
// holds on every runtime is in support/pod-acceptance.ts; test/static-pods-containerd.test.ts runs it in containers.

const onMachine = (name: string, run: (machine: Machine) => Promise<void>) => test(name, on(run))

onMachine(
  'T3 a pod starts, an edit replaces it and a removal ends it, with no API anywhere',
  async machine => {
    await acceptance.followsItsManifest(machine)
    await eventually('its folder is gone', async () => {
      const names = await hostPorts.disk.list(`${machine.stateDirectory}/pods`)
      return names.length === 0
    })
  },
)
onMachine('T3 a pod whose manifest sets its uid is replaced by an edit too', acceptance.editOfAPodWithUid)
onMachine(
  'T4 the pod outlives its agent; the next one finds the same container and hears how it ends',
  acceptance.outlivesItsAgent,
)
onMachine(
  'T4 what ended while no agent was there is known by its exit code; Never stays ended',
  acceptance.endsWithoutAgent,
)
onMachine(
  'T6 a container that crashes starts again at once, then waits; a new agent does not restart the crash loop',
  acceptance.crashLoops,
)
onMachine('T6 dead runs and their logs do not pile up', acceptance.deadRunsGo)
onMachine(
  'T7 a container whose liveness probe fails is stopped and started again; readiness follows its probe',
  acceptance.followsItsProbes,
)
onMachine('T8 bad, odd and duplicate manifests are reported and disturb nobody', acceptance.badManifests)
onMachine(
  'an agent that ends does not wait for a container that is being stopped; the next one goes on',
  acceptance.stopsAcrossAgents,
)
onMachine(
  'a directory of manifests that comes late, or another one in its place, is followed',
  acceptance.followsTheDirectory,
)
onMachine(
  'init containers run before the containers, and a pod waits for the socket that another one makes',
  acceptance.waitsForItsSocket,
)

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

onMachine(
  'a shim that is killed takes its container with it, whoever started it: never are there two of one',
  async machine => {
    const script = `echo up $PPID $$$$ >>${machine.in('web')}; while :; do sleep 0.05; done`
    const ids = (line = '') => line.split(' ').slice(1).map(Number)
    const nth = (n: number) =>
      eventually(
        `run ${n} is up`,
        () => machine.lines('web').length === n && ids(machine.lines('web')[n - 1]),
      )
    machine.write({ name: 'web', script, spec: { terminationGracePeriodSeconds: 0 } })
    const first = machine.startAgent({ backoff: { first: 100, most: 100, calm: 600_000 } })
    const [shim = 0, child = 0] = await nth(1)
    process.kill(shim, 'SIGKILL')
    const [shim2 = 0, child2 = 0] = await nth(2)
    assert.ok(!runs(child), 'before the next one begins')
    await first.end()
    // While no agent is there.
    process.kill(shim2, 'SIGKILL')
    await eventually('it has ended', () => !runs(shim2))
    assert.ok(runs(child2))
    machine.startAgent({ backoff: { first: 100, most: 100, calm: 600_000 } })
    await nth(3)
    assert.ok(!runs(child2))
  },
)

function runs(processId: number): boolean {
  try {
    return !/\) [ZX] /.test(readFileSync(`/proc/${processId}/stat`, 'utf8'))
  } catch {
    return false
  }
}
