import assert from 'node:assert/strict'
import { mkdirSync, renameSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { eventually } from './eventually.ts'
import { type Machine, stateOf, statusOf } from './static-pods.ts'

// What static pods promise on every runtime, with no API at all: the bodies of tests (static-pods.md 8, T3–T8).

const ups = (machine: Machine, name: string) =>
  machine.lines(name).filter(line => line.startsWith('up')).length

/** T3: an edit replaces the pod and a removal ends it. */
export async function followsItsManifest(machine: Machine): Promise<void> {
  machine.write({ name: 'web', script: machine.service('web') })
  const { pods, runtime } = machine.startAgent()
  await eventually('the pod runs', () => machine.lines('web').length === 1)
  await eventually('it is shown', () => statusOf(pods, 'web')?.phase === 'Running')

  machine.write({ name: 'web', script: machine.service('web', 'edited') })
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
}

/** T3: a manifest that sets its uid is replaced by an edit too. */
export async function editOfAPodWithUid(machine: Machine): Promise<void> {
  const metadata = { uid: 'my-uid' }
  machine.write({ name: 'web', script: machine.service('web'), metadata })
  const { runtime } = machine.startAgent()
  await eventually('the pod runs', () => machine.lines('web').length === 1)
  machine.write({ name: 'web', script: machine.service('web', 'edited'), metadata })
  await eventually('the edit runs', () => machine.lines('web').length === 3)
  await eventually('it alone is left', () => runtime.containers().length === 1)
  assert.equal(runtime.containers()[0]?.podUid, 'my-uid')
}

/** T4: the next agent finds the same container and hears how it ends. */
export async function outlivesItsAgent(machine: Machine): Promise<void> {
  const script = `echo up >>${machine.in('web')}; while [ ! -e ${machine.in('go')} ]; do sleep 0.05; done; rm ${machine.in('go')}; exit 7`
  machine.write({ name: 'web', script })
  const first = machine.startAgent()
  await eventually('it runs', () => first.runtime.containers().length === 1 && ups(machine, 'web') === 1)
  const facts = (agent: typeof first) =>
    agent.runtime.containers().map(({ id, attempt }) => ({ id, attempt }))
  const before = facts(first)
  await first.end()

  const second = machine.startAgent()
  await eventually('it was taken over', () => statusOf(second.pods, 'web')?.phase === 'Running')
  assert.deepEqual(facts(second), before)
  assert.equal(ups(machine, 'web'), 1)
  machine.note('go', '')
  const [restarted] = await eventually('it was started again', () => {
    const records = second.runtime.containers()
    return records.length === 2 && records.filter(({ state }) => state === 'Exited')
  })
  assert.deepEqual([restarted?.exitCode, restarted?.reason], [7, 'Error'])
}

/** T4: what ended while no agent was there is known by its exit code; Never stays ended. */
export async function endsWithoutAgent(machine: Machine): Promise<void> {
  const script = `echo up >>${machine.in('job')}; while [ ! -e ${machine.in('go')} ]; do sleep 0.02; done; echo end >>${machine.in('job')}; exit 3`
  machine.write({ name: 'job', script, spec: { restartPolicy: 'Never' } })
  const first = machine.startAgent()
  await eventually('it runs', () => statusOf(first.pods, 'job')?.phase === 'Running')
  await first.end()
  machine.note('go', '')
  await eventually('it has ended', () => machine.lines('job').includes('end'))

  const second = machine.startAgent()
  await eventually('the end is known', () => statusOf(second.pods, 'job')?.phase === 'Failed')
  const { terminated } = stateOf(second.pods, 'job') as { terminated: { exitCode: number } }
  assert.equal(terminated.exitCode, 3)
  assert.equal(second.runtime.containers().length, 1)
  assert.equal(ups(machine, 'job'), 1)
}

/** T6: a container that crashes starts again at once, then waits; an agent that is restarted does not restart the loop. */
export async function crashLoops(machine: Machine): Promise<void> {
  machine.write({ name: 'web', script: `echo run >>${machine.in('runs')}; exit 1` })
  const first = machine.startAgent()
  await eventually('it waits', () => 'waiting' in (stateOf(first.pods, 'web') ?? {}))
  await eventually('it ran twice', () => machine.lines('runs').length === 2)
  const { waiting } = await eventually('CrashLoopBackOff', () => {
    const state = stateOf(first.pods, 'web') as { waiting?: { reason: string } }
    return state.waiting?.reason === 'CrashLoopBackOff' && state
  })
  assert.equal(waiting?.reason, 'CrashLoopBackOff')
  const runs = () => first.runtime.containers().map(({ attempt, exitCode }) => [attempt, exitCode])
  assert.deepEqual(runs().sort(), [
    [0, 1],
    [1, 1],
  ])
  await first.end()
  const second = machine.startAgent()
  await eventually('it still waits', () => 'waiting' in (stateOf(second.pods, 'web') ?? {}))
  assert.deepEqual(machine.lines('runs'), ['run', 'run'])
}

/** T6: dead runs do not pile up: the last one stays, for its exit code and its log. */
export async function deadRunsGo(machine: Machine): Promise<void> {
  machine.write({ name: 'web', script: `echo run >>${machine.in('runs')}; echo hello; exit 1` })
  const { runtime } = machine.startAgent({ backoff: { first: 100, most: 100, calm: 600_000 } })
  await eventually('it ran five times', () => machine.lines('runs').length >= 5)
  await eventually('few are left', () => runtime.containers().length <= 3)
  const logs = new Set(runtime.containers().map(record => runtime.logPath(record)))
  assert.ok([...logs].every(path => /\/\d+\.log$/.test(path)))
  const [path = ''] = logs
  await eventually('few logs are left', async () => {
    const names = await hostPorts.disk.list(path.slice(0, path.lastIndexOf('/')))
    return names.filter(name => name.endsWith('.log')).length <= 3
  })
}

/** T7: a container whose liveness probe fails is stopped and started again; readiness follows its probe. */
export async function followsItsProbes(machine: Machine): Promise<void> {
  let healthy = true
  const server = createServer((_, response) => response.writeHead(healthy ? 200 : 500).end())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  try {
    machine.write({
      name: 'web',
      script: machine.service('web'),
      container: {
        startupProbe: { tcpSocket: { port }, periodSeconds: 1 },
        livenessProbe: { httpGet: { port, path: '/healthz' }, periodSeconds: 1, failureThreshold: 1 },
        readinessProbe: {
          exec: { command: ['/bin/sh', '-c', `test -e ${machine.in('ready')}`] },
          periodSeconds: 1,
          failureThreshold: 1,
        },
      },
    })
    const { pods } = machine.startAgent()
    const { started } = await eventually('it has started', () => {
      const [container] = statusOf(pods, 'web')?.containerStatuses ?? []
      return container?.started ? container : undefined
    })
    assert.ok(started)
    assert.notEqual(pods.whyNotReady('default/web'), undefined)
    machine.note('ready', '')
    await eventually('it is ready', () => pods.whyNotReady('default/web') === undefined)
    healthy = false
    await eventually('it was stopped', () => machine.lines('web').includes('stopped'))
    healthy = true
    await eventually('it runs again', () => ups(machine, 'web') === 2)
    await eventually('it is counted', () => statusOf(pods, 'web')?.containerStatuses[0]?.restartCount === 1)
  } finally {
    await new Promise(resolve => server.close(resolve))
  }
}

/** T8: bad, odd and duplicate manifests are reported and disturb nobody. */
export async function badManifests(machine: Machine): Promise<void> {
  machine.write({ name: 'web', script: machine.service('web') }, 'b.json')
  const { pods, runtime } = machine.startAgent()
  await eventually('it runs', () => runtime.containers().length === 1 && ups(machine, 'web') === 1)
  machine.writeText('broken.yaml', 'apiVersion: [')
  machine.writeText('notes.txt', 'hello')
  machine.write({ name: 'web', script: 'exit 9' }, 'a.json')
  machine.write({ name: 'odd', script: machine.service('odd'), spec: { hostNetwrok: true } })
  machine.write({ name: 'secret', script: 'exit 9', spec: { serviceAccountName: 'admin' } })
  const found = () => pods.findings().map(({ path, reason }) => `${path.split('/').at(-1)} ${reason}`)
  await eventually('all are reported', () => found().length === 5)
  assert.deepEqual(found().sort(), [
    'a.json Duplicate',
    'broken.yaml Malformed',
    'notes.txt IgnoredFile',
    'odd.json UnknownField',
    'secret.json ApiReference',
  ])
  await eventually('the odd one runs all the same', () => ups(machine, 'odd') === 1)
  machine.writeText('b.json', '{')
  await eventually('the broken edit is reported', () => found().includes('b.json Malformed'))
  const web = runtime.containers().filter(({ podKey }) => podKey === 'default/web-node-a')
  assert.deepEqual(
    web.map(({ state, attempt }) => [state, attempt]),
    [['Running', 0]],
  )
  assert.equal(machine.lines('web').length, 1)
}

/** A container that ignores TERM is killed after its grace period. */
export async function killedAfterGrace(machine: Machine): Promise<void> {
  const script = `trap '' TERM; echo up >>${machine.in('web')}; while :; do sleep 0.05; done`
  machine.write({ name: 'web', script, spec: { terminationGracePeriodSeconds: 1 } })
  const { runtime } = machine.startAgent()
  await eventually('it runs', () => ups(machine, 'web') === 1)
  machine.remove('web.json')
  await eventually('nothing is left', () => runtime.containers().length === 0 && runtime.pods().length === 0)
}

/** An agent that ends does not wait for a container that is being stopped, nor kills it; the next one goes on. */
export async function stopsAcrossAgents(machine: Machine): Promise<void> {
  const script = `trap 'echo term >>${machine.in('web')}' TERM; echo up >>${machine.in('web')}; while [ ! -e ${machine.in('go')} ]; do sleep 0.05; done`
  machine.write({ name: 'web', script, spec: { terminationGracePeriodSeconds: 3600 } })
  const first = machine.startAgent()
  await eventually('it runs', () => ups(machine, 'web') === 1)
  machine.remove('web.json')
  await eventually('it was told to stop', () => machine.lines('web').includes('term'))
  await first.end()

  const second = machine.startAgent()
  await eventually('it was taken over', () => second.runtime.containers()[0]?.state === 'Running')
  machine.note('go', '')
  const { runtime } = second
  await eventually('nothing is left', () => runtime.containers().length === 0 && runtime.pods().length === 0)
}

/** A directory of manifests that comes late, or another one in its place, is followed. */
export async function followsTheDirectory(machine: Machine): Promise<void> {
  rmSync(machine.directory, { recursive: true })
  machine.startAgent()
  mkdirSync(machine.directory)
  machine.write({ name: 'web', script: machine.service('web') })
  await eventually('it runs', () => machine.lines('web').length === 1)
  renameSync(machine.directory, machine.in('old'))
  await eventually('its manifest is gone', () => machine.lines('web').includes('stopped'))
  mkdirSync(machine.directory)
  machine.write({ name: 'web', script: machine.service('web') })
  await eventually('it runs again', () => machine.lines('web').length === 3)
}

/** A program that is not there is ContainerCannotRun. */
export async function programMissing(machine: Machine): Promise<void> {
  machine.write({ name: 'a', script: '', container: { command: ['/no/such/program'] } })
  const { pods } = machine.startAgent()
  const { reason } = await eventually('it could not run', () => {
    const { lastState = {} } = statusOf(pods, 'a')?.containerStatuses[0] ?? {}
    return (lastState as { terminated?: { reason: string } }).terminated
  })
  assert.equal(reason, 'ContainerCannotRun')
}

/** Init containers run before the containers, and a pod waits for the socket that another one makes. */
export async function waitsForItsSocket(machine: Machine): Promise<void> {
  const socket = { name: 'socket', hostPath: { path: machine.in('socket'), type: 'Socket' } }
  machine.write({
    name: 'late',
    script: machine.service('late'),
    spec: {
      initContainers: [machine.container('first', `echo init >>${machine.in('late')}`)],
      volumes: [...machine.volumes, socket],
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
}
