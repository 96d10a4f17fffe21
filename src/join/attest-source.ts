import { hasCode, RollcallError } from '../errors.ts'
import type { Attestor } from '../keys/attestation/attestor.ts'
import { decodeChallenge, encodeBegin, encodeFinish } from '../keys/attestation/encoding.ts'
import { attestationPaths, type BeginRequest, qualifyingData } from '../keys/attestation/messages.ts'
import { Secret } from '../keys/secret.ts'
import { createClient, isStatus } from '../kube/client.ts'
import { isRecord } from '../kube/json.ts'
import { attestationEndpoint } from '../kube/rollcall/node-identity.ts'
import type { Connect, ConnectionConfig, Transport } from '../kube/transport.ts'
import { type ConfigMap, resources } from '../kube/types.ts'
import type { Clock } from '../ports.ts'
import {
  type AcquireContext,
  type CredentialSource,
  type NothingReason,
  nothingOf,
} from './credential-sources.ts'

export interface AttestSourceOptions {
  attestor: Attestor
  /** The API server, which also takes the proof unless `attestation` does; undefined: not known yet. */
  endpoint(): Promise<ConnectionConfig | undefined>
  /**
   * Where the proof is taken, e.g. `https://10.0.0.11:8445`, by the same CA. Absent: where kube-public/cluster-info says,
   * else at the API server.
   */
  attestation?: string
  connect: Connect
  clock: Clock
  /** Default 180: a hardware TPM may take half a minute to make its endorsement key. */
  timeoutSeconds?: number
}

/**
 * The machine proves which one it is, and that it made the key that the request will have; for that it gets a token which
 * is good for one certificate of this node and this key. Nothing of it is ever on the disk. It is done anew for each
 * attempt, with the same key until there is a certificate.
 */
export function attestSource(options: AttestSourceOptions): CredentialSource {
  const { attestor, clock, timeoutSeconds = 180 } = options
  const name = `attestation by ${attestor.name}`
  const nothing = nothingOf(name)
  return {
    name,
    async acquire(context) {
      const known = await options.endpoint()
      if (!known) return nothing('NoCredential', 'no kubeconfig names an API server')
      if (!context.key) return nothing('NoCredential', 'it is only for a certificate that is asked for')
      const over = new AbortController()
      const end = () => over.abort()
      const timer = clock.after(timeoutSeconds * 1000, end)
      context.signal?.addEventListener('abort', end, { once: true })
      const { bearerToken: _, readBearerToken: __, clientCertificate: ___, ...endpoint } = known
      const open: Transport[] = []
      const connect = (config: ConnectionConfig) => {
        const transport = options.connect(config)
        open.push(transport)
        return transport
      }
      try {
        const where =
          options.attestation === undefined
            ? await publishedEndpoint(connect(endpoint), over.signal)
            : { server: options.attestation }
        const transport = connect({ ...endpoint, ...where })
        const key = await context.key()
        const token = await attest(options, context, key.signer.publicKey, transport, over.signal)
        return {
          ok: true,
          credential: { source: name, connection: { ...endpoint, bearerToken: token }, key },
        }
      } catch (error) {
        if (context.signal?.aborted || !(error instanceof RollcallError)) throw error
        return nothing(reasonOf(error), error.message)
      } finally {
        timer.cancel()
        context.signal?.removeEventListener('abort', end)
        for (const transport of open) transport.closeConnections()
      }
    },
  }
}

/** What the cluster says in a place that anybody may read, over a connection whose CA is known. */
async function publishedEndpoint(
  transport: Transport,
  signal: AbortSignal,
): Promise<Pick<ConnectionConfig, 'server' | 'certificateAuthority'> | undefined> {
  const target = { namespace: 'kube-public', name: 'cluster-info' }
  const info = await createClient(transport)
    .get<ConfigMap>(resources.configMaps, target, signal)
    .catch(error => {
      // Not every cluster has it, or shows it.
      if (isStatus(error, 'NotFound') || isStatus(error, 'Forbidden') || isStatus(error, 'Unauthorized'))
        return undefined
      throw error
    })
  const { [attestationEndpoint.address]: server, [attestationEndpoint.authority]: certificateAuthority } =
    info?.data ?? {}
  if (!server?.startsWith('https://')) return undefined
  return { server, ...(certificateAuthority !== undefined && { certificateAuthority }) }
}

/** What passes by itself or by somebody's hand elsewhere is waited for. */
function reasonOf(error: RollcallError): NothingReason {
  const passing = [
    'API_UNREACHABLE',
    'API_STATUS',
    'TPM_ABSENT',
    'TOKEN_ABSENT',
    'SIGNER_UNREACHABLE',
  ] as const
  if (passing.some(code => hasCode(error, code))) return 'Waiting'
  const { code } = error.details
  return hasCode(error, 'ATTESTATION_REFUSED') && (code === 'PENDING' || code === 'BUSY')
    ? 'Waiting'
    : 'NoCredential'
}

async function attest(
  { attestor }: AttestSourceOptions,
  { nodeName }: AcquireContext,
  spki: Uint8Array,
  transport: Transport,
  signal: AbortSignal,
): Promise<Secret> {
  const { machine, challenge, proof } = await attestor.prove(async machine => {
    const begun = await post(
      transport,
      attestationPaths.begin,
      encodeBegin({ nodeName, machine, spki }),
      signal,
    )
    const challenge = decodeChallenge(begun)
    return { challenge, qualifying: qualifyingData(challenge, { nodeName, spki }) }
  })
  const begin: BeginRequest = { nodeName, machine, spki }
  const finish = encodeFinish({ ...begin, challenge: challenge.id, proof })
  const { token } = await post(transport, attestationPaths.finish, finish, signal)
  if (typeof token !== 'string' || token === '')
    throw new RollcallError('ATTESTATION_REFUSED', 'the answer to the proof holds no token.', {})
  return new Secret(token)
}

async function post(
  transport: Transport,
  url: string,
  message: Record<string, unknown>,
  signal: AbortSignal,
): Promise<Record<string, unknown>> {
  const { status, body } = await transport.request({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/json', accept: 'application/json' },
    body: new TextEncoder().encode(JSON.stringify(message)),
    signal,
  })
  const answer = body instanceof Uint8Array ? parseObject(body) : undefined
  if (status === 200 && answer) return answer
  const { code, message: why } = answer ?? {}
  const told = typeof why === 'string' ? why.slice(0, 300) : `HTTP ${status}`
  throw new RollcallError('ATTESTATION_REFUSED', told, {
    code: typeof code === 'string' ? code : 'NOT_PROVEN',
  })
}

function parseObject(body: Uint8Array): Record<string, unknown> | undefined {
  try {
    const value: unknown = JSON.parse(new TextDecoder().decode(body))
    return isRecord(value) ? value : undefined
  } catch {
    return undefined // It may hold a token: it is not shown, and gives none.
  }
}
