import { type Lease, resources } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

function validateLease({ spec = {} }: Lease): FieldError[] {
  const errors: FieldError[] = []
  const { leaseDurationSeconds, leaseTransitions } = spec
  if (leaseDurationSeconds !== undefined && leaseDurationSeconds <= 0) {
    errors.push(
      fieldError.invalid('spec.leaseDurationSeconds', leaseDurationSeconds, 'must be greater than 0'),
    )
  }
  if (leaseTransitions !== undefined && leaseTransitions < 0) {
    errors.push(
      fieldError.invalid('spec.leaseTransitions', leaseTransitions, 'must be greater than or equal to 0'),
    )
  }
  return errors
}

export const leases: StoredResource<Lease> = {
  ...storedDefaults,
  ...resources.leases,
  singular: 'lease',
  columns: [
    nameColumn,
    textColumn(
      'Holder',
      'holderIdentity contains the identity of the holder of a current lease.',
      ({ spec }) => spec?.holderIdentity ?? '',
    ),
    ageColumn,
  ],
  validate: validateLease,
  validateUpdate: validateLease,
  allowCreateOnUpdate: true,
  allowUnconditionalUpdate: false,
}
