/** P8: who changes the CA is the first consumer of it, and does nothing by which it would lose its own way to the API. */
import type { ChainMode } from '../../rollover/observations.ts'
import { certificateSignatureIsValid, parseCertificatesPem } from '../../x509/certificate.ts'
import type { CaStore } from '../rollover/ca-store.ts'

/** Id of this controller as a consumer, and as a holder. */
export const controllerId = 'controller'

/** Why API servers that judge clients by this bundle would refuse this certificate (PEM; absent: a token is used). */
export function whyShutOut(presented: string | undefined, bundle: string): string | undefined {
  const [leaf, ...chain] = parseCertificatesPem(presented ?? '')
  if (!leaf) return undefined
  const anchors = parseCertificatesPem(bundle)
  const known = [leaf, ...chain].some(one => anchors.some(ca => certificateSignatureIsValid(one, ca)))
  return known
    ? undefined
    : 'its own client certificate is of a CA that goes; give it a kubeconfig with another, or with a token'
}

/** Why who trusts these CAs (PEM) would not verify that chain. The chain of the old CA is the one that is verified now. */
export function whyBlind(
  trusted: string,
  cas: CaStore,
  { authority, mode }: { authority: number; mode: ChainMode },
): string | undefined {
  if (mode !== 'bare') return undefined
  const wanted = cas.authority('apiserver-serving', authority)?.certificate.raw
  const known = wanted && parseCertificatesPem(trusted).some(({ raw }) => Buffer.compare(raw, wanted) === 0)
  return known ? undefined : `it does not trust CA ${authority}; add that CA to its kubeconfig`
}
