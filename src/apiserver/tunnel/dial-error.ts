import { systemCode } from '../../errors.ts'

/** Why a kubelet cannot be spoken with; the message is what Go's net, tls and x509 say (H-5, H-6). */
export class DialError extends Error {
  constructor(message: string, options?: ErrorOptions) {
    super(message, options)
    this.name = 'DialError'
  }
}

const refusals: Readonly<Record<string, string>> = {
  ECONNREFUSED: 'connect: connection refused',
  EHOSTUNREACH: 'connect: no route to host',
  ENETUNREACH: 'connect: network is unreachable',
  ETIMEDOUT: 'connect: connection timed out',
  EADDRNOTAVAIL: 'connect: cannot assign requested address',
  EINVAL: 'connect: invalid argument',
  EACCES: 'connect: permission denied',
}

/** A TCP connection that could not be made. `target`: host:port. */
export function connectError(error: Error, host: string, target: string): DialError {
  const code = systemCode(error) ?? ''
  if (code === 'ENOTFOUND' || code.startsWith('EAI_'))
    return new DialError(`dial tcp: lookup ${host}: no such host`, { cause: error })
  return new DialError(`dial tcp ${target}: ${refusals[code] ?? error.message}`, { cause: error })
}

/** Go's names of TLS alerts, where they are not OpenSSL's in lower case. */
const alertNames: Readonly<Record<string, string>> = {
  PROTOCOL_VERSION: 'protocol version not supported',
  INSUFFICIENT_SECURITY: 'insufficient security level',
  BAD_CERTIFICATE: 'bad certificate',
  CERTIFICATE_EXPIRED: 'expired certificate',
  CERTIFICATE_REVOKED: 'revoked certificate',
  CERTIFICATE_UNKNOWN: 'unknown certificate',
  UNKNOWN_CA: 'unknown certificate authority',
  DECODE_ERROR: 'error decoding message',
  DECRYPT_ERROR: 'error decrypting message',
}

/** A handshake that failed, or a connection that broke. `ends`: `local->remote`. */
export function tlsError(error: Error, ends: string): DialError {
  const code = systemCode(error) ?? ''
  const alert = /^ERR_SSL_(?:TLSV1|TLSV13|SSLV3)_ALERT_(\w+)$/.exec(code)?.[1]
  if (alert !== undefined) {
    const name = alertNames[alert] ?? alert.toLowerCase().replaceAll('_', ' ')
    return new DialError(`remote error: tls: ${name}`, { cause: error })
  }
  if (code === 'ECONNRESET' && /before secure TLS connection/.test(error.message))
    return new DialError('EOF', { cause: error })
  if (code === 'ECONNRESET')
    return new DialError(`read tcp ${ends}: read: connection reset by peer`, { cause: error })
  if (code === 'ERR_SSL_WRONG_VERSION_NUMBER' || code === 'ERR_SSL_PACKET_LENGTH_TOO_LONG')
    return new DialError('tls: first record does not look like a TLS handshake', { cause: error })
  return new DialError(error.message, { cause: error })
}
