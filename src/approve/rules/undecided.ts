import { isApproved, isDenied, isFailed, isIssued } from '../../kube/csr-conditions.ts'
import type { CertificateSigningRequest } from '../../kube/types.ts'
import type { Facts } from '../facts.ts'
import type { Rule } from '../rule.ts'

/** Why the request needs no judgement any more, or undefined. */
function stateOf(
  csr: CertificateSigningRequest,
): { code: 'AlreadyDecided' | 'Deleting'; state: string } | undefined {
  if (isDenied(csr)) return { code: 'AlreadyDecided', state: 'denied' }
  if (isApproved(csr)) return { code: 'AlreadyDecided', state: 'approved' }
  if (isFailed(csr)) return { code: 'AlreadyDecided', state: 'failed' }
  if (isIssued(csr)) return { code: 'AlreadyDecided', state: 'issued' }
  if (csr.metadata.deletionTimestamp) return { code: 'Deleting', state: 'being deleted' }
  return undefined
}

export const isUndecided = (csr: CertificateSigningRequest) => stateOf(csr) === undefined

export const undecided: Rule<Facts> = {
  name: 'Undecided',
  sentence: 'The request is neither decided, issued nor being deleted.',
  check({ csr }) {
    const found = stateOf(csr)
    return found && { outcome: 'Ignore', code: found.code, message: `the request is already ${found.state}` }
  },
}
