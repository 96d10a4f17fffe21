import type { Clock } from '../../ports.ts'
import { podKey, revisionOf, type StaticPod } from '../pod.ts'
import type { ContainerRecord, Runtime, StartOrder } from '../runtime.ts'

export interface MemoryRuntime extends Runtime {
  /** Rejections of `open`, of the next calls in turn. */
  unavailable: string[]
  /** What becomes of a command that is run in a container; at first exit code 0. */
  run: Runtime['exec']
  /** `SECONDS start|stop POD/CONTAINER/ATTEMPT`, in order. */
  readonly events: string[]
  /** Ends the running container of this name. */
  end(container: string, exitCode: number): void
}

/** A runtime without processes: containers run until they are ended or stopped. On any clock. */
export function createMemoryRuntime(clock: Clock): MemoryRuntime {
  const pods = new Map<string, StaticPod>()
  const records = new Map<string, ContainerRecord>()
  const listeners = new Set<() => void>()
  const events: string[] = []
  const tell = () => {
    for (const listener of [...listeners]) listener()
  }
  const note = (what: string, { podKey, container, attempt }: ContainerRecord) =>
    events.push(`${clock.monotonic() / 1000} ${what} ${podKey.split('/')[1]}/${container}/${attempt}`)
  const finish = (record: ContainerRecord, exitCode: number) => {
    const reason = exitCode === 0 ? 'Completed' : 'Error'
    records.set(record.id, { ...record, state: 'Exited', exitCode, reason, finishedAt: clock.now() })
    tell()
  }
  const runtime: MemoryRuntime = {
    name: 'memory',
    unavailable: [],
    run: async () => 0,
    events,
    end(container, exitCode) {
      const record = [...records.values()].find(
        record => record.container === container && record.state === 'Running',
      )
      if (!record) throw new RangeError(`no container ${container} runs`)
      finish(record, exitCode)
    },
    refusals: ({ spec }) => (spec.hostNetwork ? [] : ['spec.hostNetwork: must be true']),
    async open() {
      const why = runtime.unavailable.shift()
      if (why !== undefined) throw new Error(why)
    },
    pods: () => [...pods.values()],
    containers: () => [...records.values()],
    onChange(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    async start({ pod, container, init, attempt, crashes }: StartOrder) {
      const { uid } = pod.metadata
      pods.set(uid, pod)
      const record: ContainerRecord = {
        id: `memory://${uid}/${container.name}/${attempt}`,
        podKey: podKey(pod),
        podUid: uid,
        revision: revisionOf(pod),
        container: container.name,
        init,
        attempt,
        crashes,
        state: 'Running',
        startedAt: clock.now(),
      }
      records.set(record.id, record)
      note('start', record)
      tell()
    },
    async stop(record) {
      note('stop', record)
      finish(record, 143)
    },
    async remove({ id }) {
      records.delete(id)
      tell()
    },
    async removePod({ metadata }) {
      pods.delete(metadata.uid)
    },
    exec: (...order) => runtime.run(...order),
    logPath: ({ id }) => `/log/${id}`,
    close: async () => {},
  }
  return runtime
}
