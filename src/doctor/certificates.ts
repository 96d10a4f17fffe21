import { hasCode } from '../errors.ts'
import { formatTime } from '../kube/time-format.ts'
import { type Certificate, parseCertificate } from '../x509/certificate.ts'
import { formatName } from '../x509/name.ts'
import { decodePem } from '../x509/pem.ts'

export interface Bundle {
  certificates: Certificate[]
  /** What cannot be read, by its place in the text, counted from 1. */
  unreadable: string[]
}

/** Every certificate of a PEM text. Never throws for what somebody may have written there. */
export function readBundle(pem: string): Bundle {
  const blocks = decodePem(pem).filter(({ label }) => label === 'CERTIFICATE')
  return readDer(blocks.map(({ bytes }) => bytes))
}

/** The certificates of a chain that a server presented. */
export function readChain(chain: readonly string[]): Bundle {
  return readDer(chain.map(base64 => new Uint8Array(Buffer.from(base64, 'base64'))))
}

function readDer(list: readonly Uint8Array[]): Bundle {
  const bundle: Bundle = { certificates: [], unreadable: [] }
  for (const [index, der] of list.entries()) {
    try {
      bundle.certificates.push(parseCertificate(der))
    } catch (error) {
      if (!hasCode(error, 'X509_MALFORMED') && !hasCode(error, 'X509_UNSUPPORTED_KEY')) throw error
      bundle.unreadable.push(`certificate ${index + 1}: ${error.message}`)
    }
  }
  return bundle
}

/** `CN=kubernetes, valid 2026-01-01T00:00:00Z to 2036-01-01T00:00:00Z`. */
export function describe({ subject, notBefore, notAfter }: Certificate): string {
  return `${formatName(subject)}, valid ${formatTime(notBefore)} to ${formatTime(notAfter)}`
}

/** Share of its life that is over at `now` (milliseconds since the epoch): 0 to 1, beyond where it has expired. */
export function usedLife(
  { notBefore, notAfter }: Pick<Certificate, 'notBefore' | 'notAfter'>,
  now: number,
): number {
  return (now - notBefore) / (notAfter - notBefore)
}
