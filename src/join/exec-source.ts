import { RollcallError, systemCode } from '../errors.ts'
import { isRecord } from '../kube/json.ts'
import type { ExecConfig, KubeconfigCluster } from '../kube/kubeconfig.ts'
import type { ConnectionPorts } from '../kube/kubeconfig-connection.ts'
import type { Clock, Disk, Spawn } from '../ports.ts'
import { readCredentialStatus } from './credential-status.ts'

export interface ExecSourceOptions {
  spawn: Spawn
  disk: Pick<Disk, 'read'>
  clock: Clock
  nodeName: string
  /** What the plugin inherits, as with client-go. */
  environment: Readonly<Record<string, string>>
  /** client-go has none, and a plugin that hangs blocks all of it; default 60. */
  timeoutSeconds?: number
}

/** Bytes of stdout that a plugin may write. */
const mostOutput = 1024 * 1024
/** Linux takes 128 KiB for one variable (E2BIG); a large CA bundle comes near that. */
const mostClusterInfo = 120_000

/**
 * Runs the exec credential plugin of a kubeconfig (client.authentication.k8s.io) and gives what it answers. Rejects with
 * CREDENTIAL_UNAVAILABLE, in client-go's words where it has some. Never caches: the chain asks only when a credential is
 * needed.
 */
export function createExecCredential(
  options: ExecSourceOptions,
): NonNullable<ConnectionPorts['execCredential']> {
  const { spawn, clock, nodeName, timeoutSeconds = 60 } = options
  return async (exec, cluster) => {
    const { command } = exec
    if (exec.interactiveMode === 'Always')
      throw failed(command, 'needs a terminal (interactiveMode Always), and there is none')
    const info = await execInfo(exec, cluster, options)
    const own = Object.fromEntries(exec.env.map(({ name, value }) => [name, value]))
    const environment = {
      ...options.environment,
      ROLLCALL_NODE_NAME: nodeName,
      ...own,
      KUBERNETES_EXEC_INFO: info,
    }
    const abort = new AbortController()
    const timer = clock.after(timeoutSeconds * 1000, () => abort.abort())
    const { signal } = abort
    try {
      const { code, stdout } = await spawn.run({
        command,
        args: exec.args,
        environment,
        directory: '/',
        signal,
        mostOutput,
      })
      if (code !== 0) throw failed(command, `failed with exit code ${code}`)
      return readAnswer(exec, new TextDecoder().decode(stdout), clock.now())
    } catch (error) {
      if (error instanceof RollcallError) throw error
      if (signal.aborted) throw failed(command, `did not answer within ${timeoutSeconds} s`)
      if (systemCode(error) === 'ENOENT') throw failed(command, 'not found')
      throw failed(command, `cannot be run (${systemCode(error) ?? String(error)})`)
    } finally {
      timer.cancel()
    }
  }
}

/** The text of KUBERNETES_EXEC_INFO; ends with a newline, as client-go's. */
async function execInfo(
  exec: ExecConfig,
  cluster: KubeconfigCluster,
  { disk }: ExecSourceOptions,
): Promise<string> {
  const spec = {
    interactive: false,
    ...(exec.provideClusterInfo && { cluster: await clusterInfo(cluster, disk) }),
  }
  const info = `${JSON.stringify({ kind: 'ExecCredential', apiVersion: exec.apiVersion, spec })}\n`
  if (info.length > mostClusterInfo)
    throw failed(
      exec.command,
      'cannot be told of the cluster, as its CA bundle is too large; set provideClusterInfo to false',
    )
  return info
}

async function clusterInfo(cluster: KubeconfigCluster, disk: Pick<Disk, 'read'>) {
  const authority = cluster.certificateAuthority
  const pem =
    authority &&
    ('data' in authority ? Buffer.from(authority.data.reveal()) : await disk.read(authority.file))
  return {
    server: cluster.server,
    ...(cluster.tlsServerName && { 'tls-server-name': cluster.tlsServerName }),
    ...(cluster.insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
    ...(pem && { 'certificate-authority-data': Buffer.from(pem).toString('base64') }),
    config: null,
  }
}

function readAnswer({ command, apiVersion }: ExecConfig, text: string, now: number) {
  let answer: unknown
  try {
    answer = JSON.parse(text)
  } catch {
    // What it wrote may be a secret: it is not shown.
    throw failed(command, 'wrote no JSON to stdout')
  }
  const object = isRecord(answer) ? answer : {}
  if (object.kind !== 'ExecCredential') throw failed(command, 'gave no ExecCredential')
  if (object.apiVersion !== apiVersion)
    throw failed(
      command,
      `is configured to use API version ${apiVersion}, but returned version ${String(object.apiVersion)}`,
    )
  const read = readCredentialStatus(object.status, now)
  if (!read.ok) throw failed(command, read.problem)
  return read.credential
}

function failed(command: string, why: string): RollcallError {
  return new RollcallError('CREDENTIAL_UNAVAILABLE', `exec: executable ${command} ${why}`, { command })
}
