/** A signer in another program, behind a unix socket: HTTP/1.1 and JSON, docs/reference/external-signer.md. */
import { RollcallError, systemCode } from '../errors.ts'
import type { Clock, Disk, Net } from '../ports.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { parsePublicKey } from '../x509/public-key.ts'
import { signatureAlgorithmOf } from './signature-algorithm.ts'
import type { Signer } from './signer.ts'
import { socketProblem } from './socket-safety.ts'

export interface RemoteKey {
  /** Absolute path of the unix socket. */
  socket: string
  /** The signer's name for the key. */
  key: string
}

export interface RemoteSignerOptions extends RemoteKey {
  net: Pick<Net, 'http'>
  disk: Disk
  clock: Clock
  /** User ids that may own the socket and its folders, beside root. */
  owners: readonly number[]
  /** For each answer; default 10. */
  timeoutSeconds?: number
}

const apiVersion = 'plugin.rollcall.dev/v1'
/** Bytes: of what is sent to be signed, and of an answer. A certificate with a hundred names has about 4 KiB. */
const mostData = 64 * 1024
const mostAnswer = 64 * 1024

/**
 * The signer of a key that another program holds. Rejects with SIGNER_UNREACHABLE, TOKEN_KEY_ABSENT, X509_MALFORMED or
 * X509_UNSUPPORTED_KEY; `sign` with these and with KEY_MISMATCH when the program came back with another key.
 */
export async function openRemoteSigner(
  options: RemoteSignerOptions,
): Promise<Signer & { check(): Promise<void> }> {
  const path = `/v1/keys/${encodeURIComponent(options.key)}`
  const describe = async () => bytesOf(await ask(options, { method: 'GET', path }), 'publicKey', options)
  const publicKey = await describe()
  const algorithm = signatureAlgorithmOf(parsePublicKey(publicKey).type)
  const fingerprint = sha256Hex(publicKey)
  return {
    publicKey,
    algorithm,
    async check() {
      if (Buffer.compare(await describe(), publicKey) !== 0) throw replaced(options)
    },
    async sign(tbs) {
      if (tbs.length > mostData)
        throw new RangeError(`${tbs.length} bytes to sign; the protocol carries ${mostData}`)
      const data = Buffer.from(tbs).toString('base64')
      const answer = await ask(options, {
        method: 'POST',
        path: `${path}/sign`,
        body: JSON.stringify({ apiVersion, algorithm, data }),
      })
      if (answer.keyFingerprint !== fingerprint) throw replaced(options)
      return bytesOf(answer, 'signature', options)
    },
  }
}

interface Question {
  method: 'GET' | 'POST'
  path: string
  body?: string
}

type Answer = Readonly<Record<string, unknown>>

async function ask(options: RemoteSignerOptions, { method, path, body }: Question): Promise<Answer> {
  const { net, disk, clock, socket, owners, timeoutSeconds = 10 } = options
  const problem = await socketProblem(socket, owners, disk)
  if (problem) throw unreachable(options, problem.message)
  const abort = new AbortController()
  const timer = clock.after(timeoutSeconds * 1000, () => abort.abort())
  try {
    const { status, body: text } = await net.http({
      method,
      url: `http://signer${path}`,
      socketPath: socket,
      headers: { accept: 'application/json', ...(body && { 'content-type': 'application/json' }) },
      ...(body && { body }),
      signal: abort.signal,
      mostBody: mostAnswer,
    })
    const answer = parseObject(text)
    if (status === 200 && answer) return answer
    throw refused(options, status, answer)
  } catch (error) {
    if (error instanceof RollcallError) throw error
    if (abort.signal.aborted) throw unreachable(options, `no answer within ${timeoutSeconds} s`, error)
    throw unreachable(options, `it cannot be reached (${systemCode(error) ?? String(error)})`, error)
  } finally {
    timer.cancel()
  }
}

/** An error answer is `{code, message}`; only these are shown. */
function refused(options: RemoteSignerOptions, status: number, answer: Answer | undefined): RollcallError {
  const code = typeof answer?.code === 'string' ? answer.code.slice(0, 40) : `HTTP ${status}`
  const message = typeof answer?.message === 'string' ? `: ${answer.message.slice(0, 200)}` : ''
  if (code === 'KEY_NOT_FOUND')
    return new RollcallError('TOKEN_KEY_ABSENT', `${nameOf(options)} is not there${message}.`)
  return unreachable(options, `it answered ${code}${message}`)
}

function bytesOf(answer: Answer, member: string, options: RemoteSignerOptions): Uint8Array {
  const value = answer[member]
  if (typeof value !== 'string' || !/^[A-Za-z0-9+/]+={0,2}$/.test(value))
    throw unreachable(options, `its answer has no ${member} in base64`)
  return new Uint8Array(Buffer.from(value, 'base64'))
}

function parseObject(text: string): Answer | undefined {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' && value !== null ? (value as Answer) : undefined
  } catch {
    return undefined // No JSON is no answer of the protocol; the caller says so.
  }
}

const nameOf = ({ socket, key }: RemoteKey) => `key ${JSON.stringify(key)} of the external signer ${socket}`

const replaced = (key: RemoteKey) =>
  new RollcallError('KEY_MISMATCH', `${nameOf(key)} is another key than it was; put the right one back.`)

function unreachable(key: RemoteKey, why: string, cause?: unknown): RollcallError {
  return new RollcallError('SIGNER_UNREACHABLE', `${nameOf(key)}: ${why}.`, {}, { cause })
}
