import { hasCode, RollcallError, systemCode } from '../errors.ts'
import { encodeTokenKey, type TokenKey } from '../keys/token-key.ts'
import type { ConnectionConfig } from '../kube/transport.ts'
import type { Clock, Disk } from '../ports.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { type CredentialSource, nothingOf } from './credential-sources.ts'

export interface TokenCertificateSourceOptions {
  /** Path of the certificate, PEM, leaf first: a device's own, say, that came with the machine. */
  certificate: string
  /** Its key in the token. Rejects as `Token.use`. */
  key(): Promise<TokenKey>
  /** The API server; undefined: not known yet. */
  endpoint(): Promise<ConnectionConfig | undefined>
  disk: Pick<Disk, 'read'>
  clock: Pick<Clock, 'now'>
}

/**
 * A client certificate whose key is in a PKCS#11 token as the bootstrap credential: no secret that could be copied is on the
 * disk. Certificate and token are looked at anew for each attempt.
 */
export function tokenCertificateSource(options: TokenCertificateSourceOptions): CredentialSource {
  const name = `certificate ${options.certificate} with its key in a token`
  const nothing = nothingOf(name)
  return {
    name,
    async acquire() {
      try {
        const certificate = new TextDecoder().decode(await options.disk.read(options.certificate))
        const [leaf] = parseCertificatesPem(certificate)
        if (!leaf) return nothing('Invalid', 'the file holds no certificate')
        if (options.clock.now() >= leaf.notAfter) return nothing('Invalid', 'the certificate has expired')
        const key = await options.key()
        if (Buffer.compare(key.spki, leaf.spki) !== 0)
          return nothing('Invalid', 'the key in the token is not the key of the certificate')
        const known = await options.endpoint()
        if (!known) return nothing('NoCredential', 'no kubeconfig names an API server')
        const clientCertificate = { certificate, key: encodeTokenKey(key) }
        const { bearerToken: _, readBearerToken: __, ...bare } = known
        return { ok: true, credential: { source: name, connection: { ...bare, clientCertificate } } }
      } catch (error) {
        if (hasCode(error, 'TOKEN_ABSENT')) return nothing('Waiting', error.message)
        if (hasCode(error, 'X509_MALFORMED')) return nothing('Invalid', error.message)
        if (error instanceof RollcallError) return nothing('NoCredential', error.message)
        const code = systemCode(error)
        if (code === undefined) throw error
        return nothing(code === 'ENOENT' ? 'Missing' : 'Unreadable', code)
      }
    },
  }
}
