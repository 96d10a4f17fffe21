import { isApproved, isDenied, isFailed, isIssued } from '../../kube/csr-conditions.ts'
import type { Facts } from '../facts.ts'
import type { Rule } from '../rule.ts'

export const undecided: Rule<Facts> = {
  name: 'Undecided',
  sentence: 'The request is neither decided, issued nor being deleted.',
  check({ csr }) {
    const ignore = (code: 'AlreadyDecided' | 'Deleting', state: string) =>
      ({ outcome: 'Ignore', code, message: `the request is already ${state}` }) as const
    if (isDenied(csr)) return ignore('AlreadyDecided', 'denied')
    if (isApproved(csr)) return ignore('AlreadyDecided', 'approved')
    if (isFailed(csr)) return ignore('AlreadyDecided', 'failed')
    if (isIssued(csr)) return ignore('AlreadyDecided', 'issued')
    return csr.metadata.deletionTimestamp ? ignore('Deleting', 'being deleted') : undefined
  },
}
