/** The first question to an API: where it is not answered, none of the others is asked, each of which would wait as long. */
import { RollcallError, systemCode } from '../../errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { ApiStatusError } from '../../kube/client.ts'
import { isRecord } from '../../kube/json.ts'
import type { Clock } from '../../ports.ts'
import type { ApiAnswer } from '../artifacts/endpoint-artifacts.ts'

/** Milliseconds; an API under load answers this within a second. */
const patience = 10_000
/** Bytes; the answer has some hundred. */
const mostAnswer = 65_536

/** GET /version, which everybody who is known to the API may ask. Never rejects for what a server does. */
export async function askVersion(client: KubeClient, server: string, clock: Clock): Promise<ApiAnswer> {
  const abort = new AbortController()
  const timer = clock.after(patience, () => abort.abort())
  try {
    return { server, ...versionIn(await client.raw('/version', abort.signal, mostAnswer), server) }
  } catch (error) {
    if (!(error instanceof RollcallError)) throw error
    if (abort.signal.aborted) return { server, ...silent(server, `within ${patience / 1000} s`) }
    return { server, ...troubleOf(error, server) }
  } finally {
    timer.cancel()
  }
}

type Answered = Omit<ApiAnswer, 'server'>

const silent = (server: string, how: string): Answered => ({
  trouble: { kind: 'silent', message: `${server} did not answer ${how}` },
})

const strange = (server: string, what: string): Answered => ({
  trouble: {
    kind: 'strange',
    message: `${server} answered ${what}, so it is no Kubernetes API, or something stands before it`,
  },
})

function versionIn(text: string, server: string): Answered {
  try {
    const answer: unknown = JSON.parse(text)
    if (isRecord(answer) && typeof answer.gitVersion === 'string') return { version: answer.gitVersion }
  } catch {
    // What it wrote is not shown: it may be anything.
  }
  return strange(server, text.trimStart().startsWith('<') ? 'a web page' : 'something else than its version')
}

/** Texts of TLS alerts by which a server refuses the certificate of its client. */
const refusals =
  /alert (bad certificate|certificate (expired|revoked|unknown|required)|unknown ca|access denied)/i

function troubleOf(error: RollcallError, server: string): Answered {
  if (error instanceof ApiStatusError) return troubleOfStatus(error.status, server)
  if (refusals.test(error.message)) return { trouble: { kind: 'refused', message: error.message } }
  const code = systemCode(error.cause) ?? ''
  if (/CERT|SIGNATURE|ISSUER|ALTNAME/.test(code))
    return { trouble: { kind: 'untrusted', message: `${server}: ${code}` } }
  return { trouble: { kind: 'silent', message: error.message } }
}

function troubleOfStatus({ code, message = '' }: ApiStatusError['status'], server: string): Answered {
  if (message.startsWith('<')) return strange(server, `HTTP ${code} and a web page`)
  if (code === 401) return { trouble: { kind: 'refused', message: `${server} answered 401 ${message}` } }
  // Whoever is known and may not ask this may be allowed the rest.
  if (code === 403) return {}
  return strange(server, `HTTP ${code} ${message}`)
}
