import { join } from 'node:path'
import type { Command } from 'commander'
import { RollcallError, systemCode } from '../errors.ts'
import { inClusterConfig } from '../kube/in-cluster.ts'
import { mergeKubeconfigs, parseKubeconfig, selectContext } from '../kube/kubeconfig.ts'
import { type ConnectionPorts, connectionConfig } from '../kube/kubeconfig-connection.ts'
import type { ConnectionConfig } from '../kube/transport.ts'
import type { ConnectionFlags } from './command-io.ts'

/** Adds `--kubeconfig` and `--context`. */
export function addConnectionOptions(command: Command): Command {
  return command
    .option(
      '--kubeconfig <file>',
      'which cluster; default: $KUBECONFIG, ./.rollcall/admin.kubeconfig, ~/.kube/config',
    )
    .option('--context <name>', 'which context of the kubeconfig; default: its current one')
}

export interface KubeconfigPorts extends ConnectionPorts {
  environment: Readonly<Record<string, string | undefined>>
}

/**
 * How to reach the API that the flags and the environment name: `--kubeconfig`, else the files of KUBECONFIG, else the
 * one `rollcall up` writes here, else ~/.kube/config, else, in a pod, its service account. Throws KUBECONFIG_INVALID.
 */
export async function kubeconfigConnection(
  flags: ConnectionFlags,
  ports: KubeconfigPorts,
): Promise<ConnectionConfig> {
  const { environment } = ports
  const named = flags.kubeconfig
    ? [flags.kubeconfig]
    : (environment.KUBECONFIG ?? '').split(':').filter(Boolean)
  if (named.length > 0) {
    // As kubectl: of several files some may be missing, of one it is an error.
    const texts = await Promise.all(named.map(path => read(path, ports)))
    const found = texts.flatMap(file => (file ? [parseKubeconfig(file.text, file.path)] : []))
    const [first, ...rest] = found
    if (!first) throw missing(named.join(':'))
    return connect([first, ...rest], flags, ports)
  }
  const home = environment.HOME
  for (const path of ['.rollcall/admin.kubeconfig', ...(home ? [join(home, '.kube/config')] : [])]) {
    const file = await read(path, ports)
    if (file) return connect([parseKubeconfig(file.text, file.path)], flags, ports)
  }
  const { KUBERNETES_SERVICE_HOST: host, KUBERNETES_SERVICE_PORT: port } = environment
  return inClusterConfig({ host, port, ...ports })
}

function connect(
  files: Parameters<typeof mergeKubeconfigs>[0],
  flags: ConnectionFlags,
  ports: KubeconfigPorts,
) {
  const merged = mergeKubeconfigs(files)
  return connectionConfig(selectContext(merged, flags.context), merged.path, ports)
}

async function read(
  path: string,
  { disk }: KubeconfigPorts,
): Promise<{ path: string; text: string } | undefined> {
  try {
    return { path, text: new TextDecoder().decode(await disk.read(path)) }
  } catch (cause) {
    if (systemCode(cause) === 'ENOENT') return undefined
    const why = systemCode(cause) ?? String(cause)
    throw new RollcallError('KUBECONFIG_INVALID', `${path} cannot be read: ${why}`, { path }, { cause })
  }
}

function missing(path: string): RollcallError {
  return new RollcallError('KUBECONFIG_INVALID', `${path} does not exist; give another --kubeconfig`, {
    path,
  })
}
