import { isApproved, isDenied, isIssued } from '../../kube/csr-conditions.ts'
import type { CertificateSigningRequest } from '../../kube/types.ts'
import { humanDuration } from '../wire/human-duration.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import { conditionsOf } from './csr-conditions.ts'
import type { Column } from './resource.ts'

/** types only, their status is not looked at; e.g. `Approved,Failed` or `Pending,Issued`. */
function csrConditionText(csr: CertificateSigningRequest): string {
  const words = [isDenied(csr) ? 'Denied' : isApproved(csr) ? 'Approved' : 'Pending']
  if (conditionsOf(csr).some(condition => condition.type === 'Failed')) words.push('Failed')
  if (isIssued(csr)) words.push('Issued')
  return words.join(',')
}

function requestedDuration({ spec }: CertificateSigningRequest): string {
  return spec.expirationSeconds === undefined ? '<none>' : humanDuration(spec.expirationSeconds * 1000)
}

/** */
export const csrColumns: readonly Column<CertificateSigningRequest>[] = [
  nameColumn,
  ageColumn,
  textColumn('SignerName', 'Requested signer for the request.', ({ spec }) => spec.signerName || '<none>'),
  textColumn('Requestor', 'Who asked: the authenticated user.', ({ spec }) => spec.username ?? ''),
  textColumn(
    'RequestedDuration',
    'expirationSeconds is the requested duration of validity of the issued certificate.',
    requestedDuration,
  ),
  textColumn('Condition', 'Conditions applied to the request, such as approval or denial.', csrConditionText),
]
