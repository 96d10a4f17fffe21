import { stringify } from 'yaml'
import { Secret } from '../keys/secret.ts'

/** PEM to embed, or a file to refer to (written as given). */
export type Reference = { pem: string } | { file: string }

export interface KubeconfigFields {
  server: string
  certificateAuthority?: Reference
  insecureSkipTlsVerify?: boolean
  tlsServerName?: string
  proxyUrl?: string
  user:
    | { clientCertificate: Reference; clientKey: { pem: Secret } | { file: string } }
    | { token: Secret }
    | { tokenFile: string }
    | { exec: Record<string, unknown> }
  /** Absent: those that the kubelet's bootstrap writes (K-10). */
  names?: { cluster: string; user: string; context: string }
}

/** What kubeadm calls them in a bootstrap kubeconfig. */
export const kubeadmBootstrapNames = {
  cluster: 'kubernetes',
  user: 'tls-bootstrap-token-user',
  context: 'tls-bootstrap-token-user@kubernetes',
}

/** K-10: what kubelet's bootstrap calls them. */
const bootstrapNames = { cluster: 'default-cluster', user: 'default-auth', context: 'default-context' }

/** The text of a kubeconfig with one context, which is current. Secret, because it may hold a key or token. */
export function encodeKubeconfig(fields: KubeconfigFields): Secret {
  const { server, insecureSkipTlsVerify, tlsServerName, proxyUrl, names = bootstrapNames } = fields
  const cluster = {
    ...reference('certificate-authority', fields.certificateAuthority),
    ...(insecureSkipTlsVerify && { 'insecure-skip-tls-verify': true }),
    server,
    ...(tlsServerName && { 'tls-server-name': tlsServerName }),
    ...(proxyUrl && { 'proxy-url': proxyUrl }),
  }
  const context = { cluster: names.cluster, namespace: 'default', user: names.user }
  const config = {
    apiVersion: 'v1',
    clusters: [{ cluster, name: names.cluster }],
    contexts: [{ context, name: names.context }],
    'current-context': names.context,
    kind: 'Config',
    users: [{ name: names.user, user: encodeUser(fields.user) }],
  }
  return new Secret(stringify(config, { lineWidth: 0 }))
}

function encodeUser(user: KubeconfigFields['user']): Record<string, unknown> {
  if ('token' in user) return { token: user.token.reveal() }
  if ('tokenFile' in user) return { tokenFile: user.tokenFile }
  if ('exec' in user) return { exec: user.exec }
  const { clientKey } = user
  const key = 'file' in clientKey ? clientKey : { pem: clientKey.pem.reveal() }
  return { ...reference('client-certificate', user.clientCertificate), ...reference('client-key', key) }
}

function reference(name: string, value: Reference | undefined): Record<string, string> {
  if (!value) return {}
  return 'file' in value
    ? { [name]: value.file }
    : { [`${name}-data`]: Buffer.from(value.pem).toString('base64') }
}
