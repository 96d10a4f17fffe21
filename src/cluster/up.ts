import { existsSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fleetNode } from '../fleet/fleet-address.ts'
import type { Signer } from '../keys/signer.ts'
import type { Log } from '../ports.ts'
import { defaultPolicySpec } from './approval-policy.ts'
import { startControlPlane } from './control-plane.ts'
import { openDataDirectory } from './data-directory.ts'
import { startFleetChild } from './fleet-child.ts'
import { hostPorts } from './host-ports.ts'
import { UpProgress } from './up-progress.ts'

export interface UpOptions {
  nodes: number
  directory: string
  /** 0: any free one. */
  port: number
  certificateLifetimeSeconds: number
  /** The key of the cluster's CA where it lies elsewhere; absent: in `D/pki/ca.key`. */
  caKey?: Signer
  /** Port of the dashboard on 127.0.0.1; 0: any free one. Absent: there is none. */
  dashboardPort?: number
  /** Made once the data directory is there, since it lies in it. */
  logTo(path: string): Log
  /** Called whenever something was reached. */
  onProgress(progress: UpProgress): void
}

export interface RunningUp {
  /** Milliseconds from the start of this call until every node held both certificates. */
  ready: Promise<void>
  adminKubeconfig: string
  server: string
  /** Ends nodes, controllers and API, in this order, and releases the data directory. */
  stop(): Promise<void>
}

/** The main job on one machine: control plane and controllers in this process, the nodes in one child. */
export async function startUp(options: UpOptions): Promise<RunningUp> {
  const directory = openDataDirectory(options.directory)
  const logFile = join(directory.root, 'rollcall.log')
  const log = options.logTo(logFile)
  const addresses = Array.from({ length: options.nodes }, (_, index) => fleetNode(index + 1).address)
  const host = { ...hostPorts, log }
  try {
    const controlPlane = await startControlPlane({
      directory,
      port: options.port,
      bind: '127.0.0.1',
      certificateLifetimeSeconds: options.certificateLifetimeSeconds,
      ...(options.caKey && { caKey: options.caKey }),
      ...(options.dashboardPort !== undefined && { dashboard: { port: options.dashboardPort } }),
      policy: defaultPolicySpec(addresses),
      ...host,
    })
    const resumed = existsSync(join(directory.nodes, 'worker-1', 'pki', 'kubelet-client-current.pem'))
    const progress = new UpProgress(options.nodes, resumed)
    options.onProgress(progress)
    const { promise: ready, resolve: becomeReady } = Promise.withResolvers<void>()
    const fleet = startFleetChild({
      args: [
        '--nodes',
        String(options.nodes),
        '--directory',
        directory.nodes,
        '--bootstrap-kubeconfig',
        directory.bootstrapKubeconfig,
        '--trust-roots',
        join(directory.root, 'trust-roots'),
        '--log',
        logFile,
      ],
      ...host,
      onStart: processId =>
        writeFileSync(directory.fleetProcess, `${processId} ${options.nodes}\n`, { mode: 0o600 }),
      onReport(report) {
        progress.take(report)
        options.onProgress(progress)
        if (progress.allReady) becomeReady()
      },
    })
    const stop = async () => {
      await fleet.stop()
      await controlPlane.stop()
      directory.release()
    }
    return { ready, stop, adminKubeconfig: directory.adminKubeconfig, server: controlPlane.server }
  } catch (error) {
    directory.release()
    throw error
  }
}
