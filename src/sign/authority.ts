/** A CA that signs: its certificate and where its key is. */
import { RollcallError } from '../errors.ts'
import { keyMatches } from '../keys/private-key.ts'
import type { Signer } from '../keys/signer.ts'
import { type Certificate, parseCertificatesPem } from '../x509/certificate.ts'

export interface Authority {
  certificate: Certificate
  signer: Signer
}

/** Where the CA of a signer is asked for at each signature: it may be replaced, or be away, while the controller runs. */
export interface AuthoritySource {
  /** undefined: none can sign now. */
  current(): Authority | undefined
  /** What is wrong with the CA's files, key or token, if anything; an earlier good pair may still sign. */
  problem(): string | undefined
  /** Told that `current` gave a signature that failed, so that the key is looked at anew. */
  failed?(authority: Authority, error: unknown): void
  /** Calls `run` whenever another CA, or one again, can sign. Returns how to end that. */
  onChange(run: () => void): () => void
}

/** A CA that never changes. */
export function constantAuthority(authority: Authority): AuthoritySource {
  return { current: () => authority, problem: () => undefined, onChange: () => () => {} }
}

/**
 * The authority of a PEM certificate and its signer. C-21: exactly one certificate, because leaves are handed out
 * without a chain. Throws RollcallError SIGNER_UNUSABLE.
 */
export function authorityOf(pem: string, signer: Signer): Authority {
  const [certificate, ...more] = parseCertificatesPem(pem)
  if (!certificate || more.length > 0)
    throw unusable(`expected 1 certificate, found ${certificate ? more.length + 1 : 0}`)
  if (!certificate.basicConstraints?.ca) throw unusable('the certificate is not a CA certificate')
  if (!keyMatches(signer, certificate))
    throw unusable('the key that signs is not the key of the CA certificate')
  return { certificate, signer }
}

const unusable = (why: string) =>
  new RollcallError('SIGNER_UNUSABLE', `the signing CA cannot be used: ${why}`)
