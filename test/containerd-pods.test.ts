import assert from 'node:assert/strict'
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs'
import { after, before, describe, test } from 'node:test'
import { WebSocket } from 'ws'
import { hostPorts } from '../src/cluster/host-ports.ts'
import { hasCode } from '../src/errors.ts'
import type { CriRuntime } from '../src/pods/cri/cri-runtime.ts'
import { CriLines } from '../src/pods/logs/cri-lines.ts'
import type { Runtime } from '../src/pods/runtime.ts'
import { LogRotation } from '../src/pods/state/log-rotation.ts'
import { createManualClock } from '../src/testing/manual-clock.ts'
import { busybox, type Containerd, noContainerd, startContainerd } from './support/containerd.ts'
import { eventually } from './support/eventually.ts'
import { besideAKubelet } from './support/foreign-kubelet.ts'
import { inContainerd, type Machine, onMachine as on, stateOf, statusOf } from './support/static-pods.ts'

// What only containers can do, and what only a shared container runtime can do to them.

describe('pods in containerd', { skip: noContainerd }, () => {
  let containerd: Containerd
  before(async () => {
    containerd = await startContainerd()
  })
  after(() => containerd.close())

  const onMachine = (name: string, run: (machine: Machine) => Promise<void>) =>
    test(
      name,
      on(run, () => inContainerd(containerd)),
    )

  onMachine('a container gets the rights and limits that its manifest says, and no others', async machine => {
    const script = `id -u; id -g; id -G; grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status
touch /file 2>/dev/null || echo read-only
cat /sys/fs/cgroup/memory/memory.limit_in_bytes /sys/fs/cgroup/memory.max 2>/dev/null
echo "$GREETING"; echo "$0"`
    machine.write({
      name: 'job',
      script,
      container: {
        args: ['$(POD)-$(UNKNOWN)-$$(POD)'],
        env: [
          { name: 'POD', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
          { name: 'GREETING', value: 'hello $(POD)' },
        ],
        resources: { limits: { memory: '64Mi', cpu: '500m' } },
        securityContext: {
          readOnlyRootFilesystem: true,
          allowPrivilegeEscalation: false,
          capabilities: { drop: ['ALL'], add: ['CAP_NET_BIND_SERVICE'] },
          seccompProfile: { type: 'RuntimeDefault' },
        },
      },
      spec: {
        restartPolicy: 'Never',
        securityContext: {
          runAsUser: 1234,
          runAsGroup: 2345,
          runAsNonRoot: true,
          supplementalGroups: [3456],
        },
      },
    })
    const { pods, runtime } = machine.startAgent()
    await eventually('it ran', () => statusOf(pods, 'job')?.phase === 'Succeeded')
    assert.deepEqual(logOf(runtime), [
      '1234',
      '2345',
      '2345 3456',
      'CapEff:\t0000000000000000',
      'NoNewPrivs:\t1',
      'Seccomp:\t2',
      'read-only',
      String(64 * 2 ** 20),
      'hello job-node-a',
      'job-node-a-$(UNKNOWN)-$(POD)',
    ])
  })

  onMachine(
    'volumes live as long as their pod: on disk, in memory, and what the pod is told of itself',
    async machine => {
      const mounts = [
        ...['disk', 'memory'].map(name => ({ name, mountPath: `/${name}` })),
        { name: 'fields', mountPath: '/fields' },
        { name: 'machine', mountPath: '/host', readOnly: true },
      ]
      machine.note('file', 'of the host\n')
      chmodSync(machine.path, 0o755)
      const script = `cat /fields/labels/app; echo; cat /host/file; touch /host/new 2>/dev/null || echo read-only
cat /disk/init; grep -c ' /memory tmpfs.*size=1024k' /proc/mounts`
      machine.write({
        name: 'job',
        script,
        metadata: { labels: { app: 'web' } },
        container: { volumeMounts: mounts },
        spec: {
          restartPolicy: 'Never',
          securityContext: { runAsUser: 1234 },
          initContainers: [
            machine.container('init', 'echo left by init >/disk/init', { volumeMounts: mounts }),
          ],
          volumes: [
            ...machine.volumes,
            { name: 'disk', emptyDir: {} },
            { name: 'memory', emptyDir: { medium: 'Memory', sizeLimit: '1Mi' } },
            {
              name: 'fields',
              downwardAPI: {
                items: [{ path: 'labels/app', fieldRef: { fieldPath: "metadata.labels['app']" } }],
              },
            },
          ],
        },
      })
      const { pods, runtime } = machine.startAgent()
      await eventually('it ran', () => statusOf(pods, 'job')?.phase === 'Succeeded')
      assert.deepEqual(logOf(runtime), ['web', 'of the host', 'read-only', 'left by init', '1'])
      machine.remove('job.json')
      await eventually('nothing is left', () => runtime.pods().length === 0)
      assert.deepEqual(await hostPorts.disk.list(`${machine.stateDirectory}/volumes`), [])
      assert.deepEqual(await hostPorts.disk.list(`${machine.stateDirectory}/logs`), [])
      assert.ok(!readFileSync('/proc/self/mounts', 'utf8').includes(machine.stateDirectory))
    },
  )

  onMachine(
    'an image that is not here is said with its policy, and the pod starts when it comes',
    async machine => {
      const late = 'localhost/rollcall-test/late:1'
      machine.write({ name: 'never', script: '', container: { image: late, imagePullPolicy: 'Never' } })
      machine.write({ name: 'pull', script: '', container: { image: 'localhost/rollcall-test/none:1' } })
      machine.write({ name: 'always', script: '', container: { image: busybox, imagePullPolicy: 'Always' } })
      const root = { runAsNonRoot: true }
      machine.write({ name: 'root', script: '', container: { securityContext: root } })
      const { pods } = machine.startAgent()
      const waits = (name: string, pattern: RegExp) =>
        eventually(`${name} waits`, () => pattern.test(JSON.stringify(stateOf(pods, name) ?? {})))
      await waits('never', /ErrImageNeverPull.*late:1 is not here, and imagePullPolicy is Never/)
      await waits('pull', /ErrImagePull.*cannot be fetched.*PullImage/)
      await waits('always', /ErrImagePull.*It is here already: imagePullPolicy: IfNotPresent would use it/)
      await waits('root', /CreateContainerConfigError.*runAsNonRoot, and the image runs as root/)
      machine.write({
        name: 'never',
        script: machine.service('never'),
        container: { image: late, imagePullPolicy: 'Never' },
      })
      await containerd.importBusybox(late)
      await eventually('it runs', () => machine.lines('never').length === 1)
    },
  )

  onMachine('what is left of a pod that somebody else removed goes with the next agent', async machine => {
    const volumes = [...machine.volumes, { name: 'memory', emptyDir: { medium: 'Memory' } }]
    machine.write({ name: 'web', script: machine.service('web'), spec: { volumes } })
    const first = machine.startAgent()
    await eventually('it runs', () => machine.lines('web').length === 1)
    await first.end()
    machine.remove('web.json')
    const [id = ''] = await containerd.podsOf(machine.stateDirectory)
    await containerd.cri.stopPodSandbox(id)
    await containerd.cri.removePodSandbox(id)
    machine.startAgent()
    for (const folder of ['volumes', 'logs'])
      await eventually(`no ${folder} are left`, async () => {
        const names = await hostPorts.disk.list(`${machine.stateDirectory}/${folder}`)
        return names.length === 0
      })
  })

  onMachine('an agent ends though the runtime hangs', async machine => {
    machine.write({ name: 'web', script: machine.service('web') })
    const { runtime, end } = machine.startAgent()
    const record = await eventually('it runs', () => runtime.containers()[0])
    await containerd.whileItHangs(async () => {
      const hanging = runtime.exec(record, ['true'], new AbortController().signal, 3600)
      const [how] = await Promise.all([hanging.catch((error: unknown) => error), end()])
      assert.ok(hasCode(how, 'CRI_FAILED'), String(how))
    })
    machine.startAgent()
    await eventually('the next one takes it over', () =>
      machine.log.lines.some(line => line.includes('was taken over')),
    )
    assert.equal(machine.lines('web').length, 1)
  })

  onMachine('a sandbox that is lost is replaced, with all that ran in it', async machine => {
    machine.write({ name: 'web', script: machine.service('web') })
    const { pods } = machine.startAgent()
    await eventually('it runs', () => machine.lines('web').length === 1)
    const [id = ''] = await containerd.podsOf(machine.stateDirectory)
    await containerd.cri.stopPodSandbox(id)
    await eventually(
      'it runs again',
      () => machine.lines('web').filter(line => line.startsWith('up')).length === 2,
    )
    await eventually('it is counted', () => statusOf(pods, 'web')?.containerStatuses[0]?.restartCount === 1)
  })

  onMachine(
    'T10 a kubelet on the same runtime is named; its pods are left alone and none is started beside it',
    machine => besideAKubelet(machine, containerd),
  )
  onMachine('a log is rotated by having the runtime open it anew: nothing is lost', async machine => {
    machine.write({ name: 'web', script: `n=0; while :; do n=$((n+1)); echo $n; sleep 0.01; done` })
    const { runtime } = machine.startAgent()
    const record = await eventually('it runs', () => runtime.containers()[0])
    const path = runtime.logPath(record)
    const size = () => readFileSync(path).length
    await eventually('it writes', () => size() > 100)
    // What a long time would have written.
    writeFileSync(`${path}.long`, Buffer.alloc(11 * 2 ** 20, '\n'))
    const long = { ...hostPorts.disk, stat: () => hostPorts.disk.stat(`${path}.long`) }
    const clock = createManualClock(0)
    const { cri } = containerd
    const reopen = () => cri.reopenContainerLog(record.id.replace(/^.*:\/\//, ''))
    const rotation = new LogRotation({ paths: () => [path], reopen, disk: long, clock, log: machine.log })
    rotation.start()
    await clock.advance(10_000)
    await eventually('it goes on in a new file', () => {
      if (!existsSync(`${path}.1`) || !existsSync(path)) return undefined
      const [now = [], old = []] = [path, `${path}.1`].map(file => linesOf(file).map(Number))
      return now.length > 2 && old.length > 2 && [...old, ...now]
    }).then(numbers =>
      assert.deepEqual(
        numbers,
        [...numbers.keys()].map(n => n + 1),
      ),
    )
    await rotation.stop()
  })

  onMachine('a command is talked with where the runtime itself serves it', async machine => {
    machine.write({ name: 'web', script: machine.service('web') })
    const { runtime } = machine.startAgent()
    const record = await eventually('it runs', () => runtime.containers()[0])
    const order = { command: ['/bin/sh', '-c', 'echo hello'], tty: false, stdin: false }
    const url = await (runtime as CriRuntime).streamUrl({ kind: 'exec', record, order })
    assert.match(url, /^http:\/\/127\.0\.0\.1:\d+\/exec\//)
    const socket = new WebSocket(url.replace(/^http/, 'ws'), ['v4.channel.k8s.io'])
    const said: string[] = []
    socket.on('message', (bytes: Buffer) => said.push(`${bytes[0]}${bytes.toString('utf8', 1)}`))
    await new Promise((resolve, reject) => socket.once('close', resolve).once('error', reject))
    assert.ok(said.includes('1hello\n'), said.join())
  })
})

/** What the last container wrote, in lines. */
function logOf(runtime: Runtime): string[] {
  const record = runtime.containers().find(({ init }) => !init)
  assert.ok(record)
  return linesOf(runtime.logPath(record))
}

function linesOf(path: string): string[] {
  const bytes = new CriLines({ timestamps: false }).take(readFileSync(path))
  return new TextDecoder().decode(bytes).split('\n').filter(Boolean)
}
