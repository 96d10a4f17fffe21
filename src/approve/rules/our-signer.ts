import type { CertificateSigningRequest } from '../../kube/types.ts'
import { signerNames } from '../../kube/types.ts'
import type { Facts } from '../facts.ts'
import type { RequestKind, Rule } from '../rule.ts'

/** Which of our two kinds the request is; undefined for every other signer, which is never touched. */
export function kindOf(csr: CertificateSigningRequest): RequestKind | undefined {
  if (csr.spec.signerName === signerNames.kubeletClient) return 'client'
  if (csr.spec.signerName === signerNames.kubeletServing) return 'serving'
  return undefined
}

export const ourSigner: Rule<Facts> = {
  name: 'OurSigner',
  sentence: 'The signer is one of the two that issue to kubelets.',
  check({ csr }) {
    if (kindOf(csr)) return undefined
    return { outcome: 'Ignore', code: 'NotOurs', message: `signer ${csr.spec.signerName} is not judged here` }
  },
}
