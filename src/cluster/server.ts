import type { Signer } from '../keys/signer.ts'
import type { Log } from '../ports.ts'
import { defaultPolicySpec } from './approval-policy.ts'
import { startControlPlane } from './control-plane.ts'
import { openDataDirectory } from './data-directory.ts'
import { hostPorts } from './host-ports.ts'

export interface ServerOptions {
  directory: string
  /** 0: any free one. */
  port: number
  bind: string
  certificateLifetimeSeconds: number
  /** The key of the cluster's CA where it lies elsewhere; absent: in `D/pki/ca.key`. */
  caKey?: Signer
  /** Port of the dashboard on 127.0.0.1; 0: any free one. Absent: there is none. */
  dashboardPort?: number
  /** False: nothing is approved, signed or published. */
  controllers: boolean
  log: Log
}

export interface RunningServerProgram {
  server: string
  adminKubeconfig: string
  stop(): Promise<void>
}

/** The embedded control plane alone. */
export async function startServer(options: ServerOptions): Promise<RunningServerProgram> {
  const directory = openDataDirectory(options.directory)
  try {
    const controlPlane = await startControlPlane({
      directory,
      port: options.port,
      bind: options.bind,
      certificateLifetimeSeconds: options.certificateLifetimeSeconds,
      ...(options.caKey && { caKey: options.caKey }),
      ...(options.dashboardPort !== undefined && { dashboard: { port: options.dashboardPort } }),
      ...(options.controllers && { policy: defaultPolicySpec([]) }),
      ...hostPorts,
      log: options.log,
    })
    const stop = async () => {
      await controlPlane.stop()
      directory.release()
    }
    return { server: controlPlane.server, adminKubeconfig: directory.adminKubeconfig, stop }
  } catch (error) {
    directory.release()
    throw error
  }
}
