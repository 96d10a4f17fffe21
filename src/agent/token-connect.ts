import { RollcallError } from '../errors.ts'
import { formatPkcs11Uri, type Pkcs11Uri } from '../keys/pkcs11/uri.ts'
import { readTokenKey, type TokenKey } from '../keys/token-key.ts'
import type { Connect, ConnectionConfig, Transport } from '../kube/transport.ts'
import type { TokenKeys } from './token-keys.ts'

/** What the process that makes TLS with a key in a token has to know. */
export interface TokenTlsOrder {
  /** `https://…` */
  server: string
  tlsServerName?: string
  certificateAuthority?: string
  insecureSkipTlsVerify?: boolean
  /** PEM, leaf first. */
  certificate: string
  /** RFC 7512, with module-path and pin-source. */
  key: string
}

/** The same for the server's end: it takes handshakes, and hands each connection back in plain (token-handshakes.ts). */
export interface TokenServingOrder extends Pick<TokenTlsOrder, 'certificate' | 'key'> {
  serve: true
}

/** A process that takes plain connections on a unix socket of ours alone and gives them on over TLS. */
export interface TokenTls {
  socketPath: string
  /** It has ended, of itself or by `stop`. */
  readonly ended: boolean
  stop(): void
}

/** Resolves when it takes connections. Rejects with a RollcallError of the token (PIN_WRONG, TOKEN_FAILED …). */
export type StartTokenTls = (order: TokenTlsOrder | TokenServingOrder) => Promise<TokenTls>

export interface TokenConnectOptions {
  connect: Connect
  uri: Pkcs11Uri
  tokenKeys: TokenKeys
  startTls: StartTokenTls
  /** The key of this certificate is not in the token any more. */
  onKeyGone?(certificate: string): void
}

/**
 * `connect`, also for certificates whose key is in a token. OpenSSL's engine for tokens keeps what it once opened, so TLS is
 * made in a process of its own, which is replaced with the connections: that is how a token that was away is found again.
 */
export function tokenConnect(options: TokenConnectOptions): Connect {
  return config => {
    const pair = config.clientCertificate
    const key = pair && readTokenKey(pair.key)
    return key ? tunnelled(config, pair.certificate, key, options) : options.connect(config)
  }
}

function tunnelled(
  config: ConnectionConfig,
  certificate: string,
  key: TokenKey,
  { connect, uri, tokenKeys, startTls, onKeyGone }: TokenConnectOptions,
): Transport {
  let current: Promise<{ transport: Transport; tls: TokenTls }> | undefined

  async function open() {
    if (!(await tokenKeys.holds(key))) {
      onKeyGone?.(certificate)
      throw new RollcallError('TOKEN_KEY_ABSENT', `the key ${key.label} is not in the token any more.`)
    }
    const { server, tlsServerName, certificateAuthority, insecureSkipTlsVerify, proxyUrl } = config
    if (proxyUrl !== undefined)
      throw new RollcallError(
        'CREDENTIAL_UNAVAILABLE',
        'with a key in a token the API is reached directly: remove proxy-url.',
      )
    const tls = await startTls({
      server,
      ...(tlsServerName !== undefined && { tlsServerName }),
      ...(certificateAuthority !== undefined && { certificateAuthority }),
      ...(insecureSkipTlsVerify && { insecureSkipTlsVerify }),
      certificate,
      key: formatPkcs11Uri({ ...uri, id: key.id }),
    })
    const transport = connect({ server: server.replace(/^https:/, 'http:'), socketPath: tls.socketPath })
    return { transport, tls }
  }

  async function ready(): Promise<{ transport: Transport; tls: TokenTls }> {
    const known = await current?.catch(() => undefined)
    if (known?.tls.ended) close()
    const opening = current ?? open()
    current = opening
    try {
      return await opening
    } catch (error) {
      if (current === opening) current = undefined
      throw error
    }
  }

  function close(): void {
    const last = current
    current = undefined
    last?.then(
      ({ transport, tls }) => {
        transport.closeConnections()
        tls.stop()
      },
      () => {}, // whoever asked was told
    )
  }

  return {
    request: async request => (await ready()).transport.request(request),
    plainSocket: async () => (await ready()).tls.socketPath,
    closeConnections: close,
  }
}
