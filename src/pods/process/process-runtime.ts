import { RollcallError } from '../../errors.ts'
import { type Clock, type Disk, type Log, type Net, type Spawn, sleep } from '../../ports.ts'
import type { NodeFacts } from '../environment.ts'
import { podKey, revisionOf, type StaticPod } from '../pod.ts'
import type { ContainerRecord, ContainerStreams, ExecOrder, Runtime, StartOrder } from '../runtime.ts'
import { LogRotation } from '../state/log-rotation.ts'
import { podFolder } from '../state/pod-folder.ts'
import { isRunning } from '../state/process-identity.ts'
import { removeLog } from '../state/remove-log.ts'
import { removeTree } from '../state/remove-tree.ts'
import { openStateFolder } from '../state/state-folder.ts'
import { AdoptedRuns } from './adopted-runs.ts'
import { followOutput } from './container-output.ts'
import { endStrays } from './end-strays.ts'
import { openNodePort } from './open-port.ts'
import { factsOf, prepareRun } from './prepare-run.ts'
import { processCommand } from './process-command.ts'
import { processRefusals } from './process-rules.ts'
import { openCommand } from './process-streams.ts'
import { currentRun, type RunFacts, readPods, type StoredRun, writeWhole } from './run-folder.ts'

export interface ProcessRuntimeOptions {
  /** Belongs to this runtime alone; created with mode 0700. */
  stateDirectory: string
  /** Containers may run as root. */
  allowRoot: boolean
  /** What containers are told of the node. */
  node(): NodeFacts
  spawn: Spawn
  /** Absent: no ports are forwarded. */
  net?: Pick<Net, 'open'>
  disk: Disk
  clock: Clock
  log: Log
}

/** Milliseconds between two looks at a process that an earlier agent started, while it is being stopped. */
const stoppingPoll = 100

/**
 * Runs containers as plain processes of the host, each under a shim in a session of its own (shim.ts), so that they
 * outlive the agent. Everything about them is on disk (run-folder.ts); the next agent finds them there and knows them by
 * process id, start time and boot id.
 */
export class ProcessRuntime implements Runtime {
  readonly name = 'process'
  readonly #options: ProcessRuntimeOptions
  readonly #root: string
  readonly #volumes: string
  readonly #pods = new Map<string, StaticPod>()
  readonly #runs = new Map<string, StoredRun>()
  /** Runs of our own children, whose end we are told. */
  readonly #children = new Set<string>()
  readonly #listeners = new Set<() => void>()
  readonly #closing = new AbortController()
  readonly #rotation: LogRotation
  readonly #adopted: AdoptedRuns

  constructor(options: ProcessRuntimeOptions) {
    this.#options = options
    const running = () => this.containers().filter(({ state }) => state === 'Running')
    this.#rotation = new LogRotation({
      ...options,
      paths: () => running().map(record => this.logPath(record)),
    })
    this.#adopted = new AdoptedRuns({
      ...options,
      running: () =>
        [...this.#runs.values()]
          .filter(({ record }) => record.state === 'Running' && !this.#children.has(record.id))
          .map(({ record, folder }) => ({ id: record.id, folder })),
      look: id => this.#refresh(id),
    })
    this.#root = `${options.stateDirectory}/pods`
    this.#volumes = `${options.stateDirectory}/volumes`
  }

  refusals(pod: StaticPod): string[] {
    const { spawn, allowRoot } = this.#options
    return processRefusals(pod, { agentUser: spawn.user, allowRoot })
  }

  async open(): Promise<void> {
    const { disk, stateDirectory, spawn, log } = this.#options
    await openStateFolder(stateDirectory, spawn.user, disk)
    await disk.makeDirectory(this.#root, 0o700)
    const found = await readPods(this.#root, disk, (path, error) => {
      log.error('what is left of a static pod cannot be read; look at it and remove it', {
        path,
        error: String(error),
      })
    })
    for (const { pod, runs } of found) {
      this.#pods.set(pod.metadata.uid, pod)
      for (const run of runs) {
        if (run.isUnexplained && run.identity) await endStrays(run.identity, run.folder, this.#options)
        this.#runs.set(run.record.id, run)
      }
      const running = runs.filter(({ record }) => record.state === 'Running').length
      if (running > 0)
        log.info('a static pod that runs already was taken over', { pod: podKey(pod), containers: running })
    }
    this.#adopted.follow()
    this.#rotation.start()
  }

  pods(): readonly StaticPod[] {
    return [...this.#pods.values()]
  }

  containers(): readonly ContainerRecord[] {
    return [...this.#runs.values()].map(({ record }) => record)
  }

  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async start(order: StartOrder): Promise<void> {
    const { spawn, disk, clock, node } = this.#options
    const facts = factsOf(order, clock.now())
    const place = { root: this.#root, volumes: this.#volumes, node: node(), agentUser: spawn.user, disk }
    await this.#storePod(order.pod)
    const { folder, shim } = await prepareRun(order, facts, place)
    this.#children.add(facts.id)
    let ended: Promise<void>
    try {
      ended = (await spawn.start(shim)).ended
    } catch (error) {
      await disk.write(`${folder}/exit`, `127\n${error instanceof Error ? error.message : error}\n`, {
        mode: 0o600,
      })
      ended = Promise.resolve()
    }
    this.#runs.set(facts.id, { record: { ...facts, state: 'Running' }, folder, identity: undefined })
    void ended.then(() => {
      this.#children.delete(facts.id)
      return this.#adopted.look(facts.id)
    })
    this.#tell()
  }

  async stop(record: ContainerRecord, grace: number): Promise<void> {
    const { clock, spawn } = this.#options
    const identity = await this.#identityOf(record.id)
    if (!identity) return this.#refresh(record.id)
    if (grace > 0) {
      spawn.signal(identity.processId, 'SIGTERM')
      if (await this.#endsWithin(record.id, grace * 1000)) return
    }
    // Looked at again: its id may have gone to somebody else meanwhile.
    if (await isRunning(identity, this.#options.disk)) spawn.signal(-identity.processId, 'SIGKILL')
    while (!this.#closing.signal.aborted && !(await this.#endsWithin(record.id, stoppingPoll))) {
      await sleep(clock, stoppingPoll, this.#closing.signal)
    }
  }

  async remove(record: ContainerRecord): Promise<void> {
    const run = this.#runs.get(record.id)
    if (!run) return
    await removeTree(run.folder, this.#options.disk)
    await removeLog(this.logPath(record), this.#options.disk)
    this.#runs.delete(record.id)
    this.#tell()
  }

  async removePod(pod: StaticPod): Promise<void> {
    if (!this.#pods.delete(pod.metadata.uid)) return
    const { disk } = this.#options
    await removeTree(podFolder(this.#root, pod), disk)
    await removeTree(podFolder(this.#volumes, pod), disk)
  }

  async exec(record: ContainerRecord, command: readonly string[], signal: AbortSignal): Promise<number> {
    const { prefix, environment, directory } = this.#placeOf(record)
    const [program = '', ...args] = [...prefix, ...command]
    const { code } = await this.#options.spawn.run({
      command: program,
      args,
      environment,
      directory,
      signal,
      mostOutput: 10 * 1024,
    })
    return code
  }

  openExec(record: ContainerRecord, order: ExecOrder): Promise<ContainerStreams> {
    return openCommand(this.#options, this.#placeOf(record), order)
  }

  async openAttach({ id }: ContainerRecord): Promise<ContainerStreams> {
    const record = () => this.#runs.get(id)?.record
    const known = record()
    if (!known) throw new RollcallError('POD_UNKNOWN', `There is no container ${id}.`)
    return followOutput({ path: this.logPath(known), record }, this.#options)
  }

  /** Its pods are on the node's network. */
  openPort(_: StaticPod, port: number) {
    return openNodePort(this.#options.net, port)
  }

  /** What a container runs in. Throws POD_UNKNOWN. */
  #placeOf(record: ContainerRecord) {
    const { spawn, node } = this.#options
    const pod = this.#pods.get(record.podUid)
    const container = [...(pod?.spec.initContainers ?? []), ...(pod?.spec.containers ?? [])].find(
      ({ name }) => name === record.container,
    )
    if (!pod || !container) throw new RollcallError('POD_UNKNOWN', `There is no container ${record.id}.`)
    const facts = { ...node(), agentUser: spawn.user, volumesRoot: this.#volumes }
    return processCommand(pod, container, facts)
  }

  logPath(record: ContainerRecord): string {
    return `${this.#runs.get(record.id)?.folder}.log`
  }

  async close(): Promise<void> {
    this.#closing.abort()
    this.#adopted.close()
    await this.#rotation.stop()
  }

  async #storePod(pod: StaticPod): Promise<void> {
    const known = this.#pods.get(pod.metadata.uid)
    if (known && revisionOf(known) === revisionOf(pod)) return
    const folder = podFolder(this.#root, pod)
    await this.#options.disk.makeDirectory(folder, 0o700)
    await writeWhole(`${folder}/pod.json`, JSON.stringify(pod), this.#options.disk)
    this.#pods.set(pod.metadata.uid, pod)
  }

  /** Who the shim is, if it runs; waits for one that has just been started to say so. */
  async #identityOf(id: string) {
    const { disk, clock } = this.#options
    for (;;) {
      const run = this.#runs.get(id)
      if (!run || run.record.state === 'Exited' || this.#closing.signal.aborted) return undefined
      const seen = await currentRun(run.folder, factsOfRecord(run.record), disk, run.identity)
      if (seen.record.state === 'Running') return seen.identity
      if (seen.identity || !this.#children.has(id)) return undefined
      await sleep(clock, stoppingPoll, this.#closing.signal)
    }
  }

  async #endsWithin(id: string, milliseconds: number): Promise<boolean> {
    const { clock } = this.#options
    const began = clock.monotonic()
    for (;;) {
      const left = milliseconds - (clock.monotonic() - began)
      if (!this.#children.has(id)) await this.#refresh(id)
      if (this.#runs.get(id)?.record.state !== 'Running' || this.#closing.signal.aborted) return true
      if (left <= 0) return false
      await this.#nextChange(Math.min(left, this.#children.has(id) ? left : stoppingPoll))
    }
  }

  #nextChange(milliseconds: number): Promise<void> {
    return new Promise(resolve => {
      const done = () => {
        timer.cancel()
        end()
        this.#closing.signal.removeEventListener('abort', done)
        resolve()
      }
      const timer = this.#options.clock.after(milliseconds, done)
      const end = this.onChange(done)
      this.#closing.signal.addEventListener('abort', done, { once: true })
    })
  }

  /** Looks at a run; one that has ended is known to have from now on. */
  async #refresh(id: string): Promise<void> {
    const run = this.#runs.get(id)
    // Once closed, what happens is the next agent's.
    if (!run || run.record.state === 'Exited' || this.#closing.signal.aborted) return
    const seen = await currentRun(run.folder, factsOfRecord(run.record), this.#options.disk, run.identity)
    if (seen.record.state === 'Running' || this.#runs.get(id) !== run) return
    if (seen.isUnexplained && seen.identity) await endStrays(seen.identity, run.folder, this.#options)
    if (this.#runs.get(id) !== run) return
    this.#runs.set(id, seen)
    this.#tell()
  }

  #tell(): void {
    this.#rotation.start()
    for (const listener of [...this.#listeners]) listener()
  }
}

function factsOfRecord(record: ContainerRecord): RunFacts {
  const { state: _, finishedAt: __, exitCode: ___, reason: ____, message: _____, ...facts } = record
  return facts
}
