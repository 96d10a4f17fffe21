/** `--head-webhook`: who keeps the heads of the decision log. Defined here alone: no policy and no object names it. */
import { RollcallError } from '../errors.ts'
import { Secret } from '../keys/secret.ts'
import type { Connect } from '../kube/transport.ts'
import type { HeadReceiver } from '../survey/audit/head-webhook.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'

export interface HeadFlags {
  decisionLog?: string
  headWebhook?: string
  headWebhookCa?: string
  headWebhookToken?: string
}

export interface HeadPorts {
  connect: Connect
  /** The text of a file that an option names; rejects with USAGE. */
  read(path: string, option: string): Promise<string>
}

/** Undefined where none is wanted. Rejects with USAGE. */
export async function headReceiverOf(flags: HeadFlags, ports: HeadPorts): Promise<HeadReceiver | undefined> {
  const { decisionLog, headWebhook: url, headWebhookCa: ca, headWebhookToken: token } = flags
  const bad = (why: string) => new RollcallError('USAGE', `--head-webhook: ${why}.`)
  if (url === undefined) {
    if (ca !== undefined || token !== undefined) throw bad('is missing, though it has a CA or a token')
    return undefined
  }
  if (decisionLog === undefined) throw bad('there are no heads without --decision-log')
  const parsed = URL.canParse(url) ? new URL(url) : undefined
  if (parsed?.protocol !== 'https:' || parsed.username || parsed.password)
    throw bad('must be an https address without a user')
  if (ca === undefined)
    throw bad('needs --head-webhook-ca: any other authority could vouch for somebody who keeps nothing')
  const certificateAuthority = await ports.read(ca, '--head-webhook-ca')
  if (!holdsCertificate(certificateAuthority)) throw bad(`--head-webhook-ca ${ca} holds no certificate`)
  if (token !== undefined) await ports.read(token, '--head-webhook-token')
  const transport = ports.connect({
    server: parsed.origin,
    certificateAuthority,
    // Read each time: a token in a file is replaced while we run.
    ...(token !== undefined && {
      readBearerToken: async () => new Secret((await ports.read(token, '--head-webhook-token')).trim()),
    }),
  })
  return { url, transport }
}

function holdsCertificate(pem: string): boolean {
  try {
    return parseCertificatesPem(pem).length > 0
  } catch (error) {
    if (error instanceof RollcallError) return false
    throw error
  }
}
