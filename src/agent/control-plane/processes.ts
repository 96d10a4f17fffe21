import type { ControlPlaneComponent } from '../../trust/control-plane-report.ts'

/** Which process of a component runs on this machine; host/processes.ts looks into /proc. */
export interface ComponentProcesses {
  /** undefined: none runs, or more than one. */
  running(component: ControlPlaneComponent): Promise<RunningComponent | undefined>
}

export interface RunningComponent {
  /** `PID/START`: another process, or the same number used again, is another instance. */
  instance: string
  /** The whole command line. */
  command: readonly string[]
}
