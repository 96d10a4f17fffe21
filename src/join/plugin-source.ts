import { systemCode } from '../errors.ts'
import { socketProblem } from '../keys/socket-safety.ts'
import { isRecord } from '../kube/json.ts'
import type { ConnectionConfig } from '../kube/transport.ts'
import type { Clock, Disk, Net } from '../ports.ts'
import {
  type AcquireContext,
  type CredentialSource,
  type NothingReason,
  nothingOf,
} from './credential-sources.ts'
import { readCredentialStatus } from './credential-status.ts'

export interface PluginSourceOptions {
  /** Path of the plugin's unix socket. */
  socket: string
  /** User ids that may own socket and folders, beside root. */
  owners: readonly number[]
  net: Net
  disk: Disk
  clock: Clock
  /** The API server, where the plugin names none; undefined: not known. */
  endpoint(): Promise<ConnectionConfig | undefined>
  /** Why what serves the socket cannot answer yet; undefined: it can. */
  whyNotReady?(): string | undefined
  /** Default 60. */
  timeoutSeconds?: number
}

const apiVersion = 'plugin.rollcall.dev/v1'
/** Bytes. */
const mostAnswer = 1024 * 1024

/**
 * A plugin on a unix socket, which a static pod may serve: HTTP/1.1 and JSON,
 * `POST /v1/credential {apiVersion, reason, nodeName, cluster}`, answered with the status of an ExecCredential and, where
 * the plugin knows it, the cluster in the form of ExecCredential's spec.cluster. One that is not there yet is waited for.
 */
export function pluginSource(options: PluginSourceOptions): CredentialSource {
  const { socket, owners, disk, endpoint, whyNotReady } = options
  const name = `plugin ${socket}`
  const nothing = nothingOf(name)
  return {
    name,
    async acquire(context) {
      const notReady = whyNotReady?.()
      if (notReady !== undefined) return nothing('Waiting', notReady)
      const problem = await socketProblem(socket, owners, disk)
      if (problem) return nothing(problem.missing ? 'Waiting' : 'Unreadable', problem.message)
      const known = await endpoint()
      const answer = await ask(context, known, options)
      if (!answer.ok) return nothing(answer.reason, answer.message)
      const read = readCredentialStatus(answer.body, options.clock.now())
      if (!read.ok) return nothing('Invalid', `the plugin ${read.problem}`)
      const connection = clusterOf(answer.body) ?? known
      if (!connection)
        return nothing('NoCredential', 'neither the plugin nor a kubeconfig names an API server')
      return {
        ok: true,
        credential: { source: name, connection: { ...withoutCredential(connection), ...read.credential } },
      }
    },
  }
}

type Answer =
  | { ok: true; body: Record<string, unknown> }
  | { ok: false; reason: NothingReason; message: string }

async function ask(
  { reason, nodeName, signal }: AcquireContext,
  known: ConnectionConfig | undefined,
  { net, clock, socket, timeoutSeconds = 60 }: PluginSourceOptions,
): Promise<Answer> {
  const abort = new AbortController()
  const end = () => abort.abort()
  const timer = clock.after(timeoutSeconds * 1000, end)
  signal?.addEventListener('abort', end, { once: true })
  const cluster = known && { server: known.server }
  try {
    const { status, body } = await net.http({
      method: 'POST',
      url: 'http://plugin/v1/credential',
      socketPath: socket,
      headers: { 'content-type': 'application/json', accept: 'application/json' },
      body: JSON.stringify({ apiVersion, reason, nodeName, ...(cluster && { cluster }) }),
      signal: abort.signal,
      mostBody: mostAnswer,
    })
    const parsed = parseObject(body)
    if (status === 200) return { ok: true, body: parsed ?? {} }
    return refused(status, parsed)
  } catch (error) {
    if (signal?.aborted) throw error
    if (abort.signal.aborted)
      return { ok: false, reason: 'Waiting', message: `no answer within ${timeoutSeconds} s` }
    return {
      ok: false,
      reason: 'Waiting',
      message: `cannot be reached (${systemCode(error) ?? String(error)})`,
    }
  } finally {
    timer.cancel()
    signal?.removeEventListener('abort', end)
  }
}

/** An error answer is `{code, message}`; only its code and message are shown. */
function refused(status: number, body: Record<string, unknown> | undefined): Answer {
  const code = String(body?.code ?? `HTTP ${status}`).slice(0, 40)
  const message = typeof body?.message === 'string' ? `: ${body.message.slice(0, 200)}` : ''
  const passes = code === 'NOT_READY' || code === 'TRANSIENT' || status === 503
  return {
    ok: false,
    reason: passes ? 'Waiting' : 'NoCredential',
    message: `the plugin answered ${code}${message}`,
  }
}

function parseObject(text: string): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return isRecord(value) ? value : undefined
  } catch {
    return undefined // A text may hold a secret: it is not shown, and gives no credential.
  }
}

/** ExecCredential's spec.cluster: the plugin may know where the node belongs. */
function clusterOf({ cluster }: Record<string, unknown>): ConnectionConfig | undefined {
  if (!isRecord(cluster)) return undefined
  const { server, 'certificate-authority-data': authority, 'tls-server-name': tlsServerName } = cluster
  if (typeof server !== 'string' || !server.startsWith('https://')) return undefined
  return {
    server,
    ...(typeof authority === 'string' && {
      certificateAuthority: Buffer.from(authority, 'base64').toString('utf8'),
    }),
    ...(typeof tlsServerName === 'string' && { tlsServerName }),
  }
}

function withoutCredential(config: ConnectionConfig): ConnectionConfig {
  const { clientCertificate: _, bearerToken: __, readBearerToken: ___, ...bare } = config
  return bare
}
