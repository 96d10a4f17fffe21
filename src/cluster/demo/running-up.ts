import { readFileSync } from 'node:fs'
import { hasCode, RollcallError, systemCode } from '../../errors.ts'
import { createClient, type KubeClient } from '../../kube/client.ts'
import { parseKubeconfig, selectContext } from '../../kube/kubeconfig.ts'
import { connectionConfig } from '../../kube/kubeconfig-connection.ts'
import type { Transport } from '../../kube/transport.ts'
import { connectUndici } from '../../kube/undici-transport.ts'
import { dataDirectoryPaths, openDataDirectory } from '../data-directory.ts'
import { hostPorts } from '../host-ports.ts'

/** An `up` that runs now on this machine, for the demos that act on it. */
export interface RunningUpFiles {
  paths: ReturnType<typeof dataDirectoryPaths>
  /** Process id of its fleet. */
  fleetProcess: number
  /** How many nodes it runs; the data directory may have folders of more, from an earlier run. */
  nodes: number
}

/** Throws RollcallError USAGE when no `up` runs on the data directory. */
export function findRunningUp(directory: string): RunningUpFiles {
  const paths = dataDirectoryPaths(directory)
  const [processId = 0, nodes = 0] = readOrNothing(paths.fleetProcess).split(' ').map(Number)
  // Only a running process holds the lock, so a fleet.pid left by a killed one is never taken for a live fleet.
  if (!processId || !isHeld(paths.root)) {
    throw new RollcallError(
      'USAGE',
      `No 'rollcall up' runs with --dir ${paths.root}; start one in another terminal first.`,
    )
  }
  return { paths, fleetProcess: processId, nodes }
}

function isHeld(root: string): boolean {
  try {
    openDataDirectory(root).release()
    return false
  } catch (error) {
    if (hasCode(error, 'DIRECTORY_IN_USE')) return true
    throw error
  }
}

function readOrNothing(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return ''
    throw error
  }
}

/** A client with the identity of a kubeconfig file; close it through the transport. */
export async function clientOf(path: string): Promise<{ client: KubeClient; transport: Transport }> {
  const config = parseKubeconfig(readFileSync(path, 'utf8'), path)
  const transport = connectUndici(await connectionConfig(selectContext(config), path, hostPorts))
  return { client: createClient(transport), transport }
}
