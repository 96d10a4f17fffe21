import { type KubeObject, resources } from '../../kube/types.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { ageColumn, nameColumn, textColumn } from './columns.ts'
import { dns1123Label } from './names.ts'
import type { StoredResource } from './resource.ts'
import { storedDefaults } from './stored-defaults.ts'

interface RuntimeClass extends KubeObject {
  handler?: string
}

function validateRuntimeClass({ handler = '' }: RuntimeClass): FieldError[] {
  return dns1123Label(handler).map(text => fieldError.invalid('handler', handler, text))
}

export const runtimeClasses: StoredResource<RuntimeClass> = {
  ...storedDefaults,
  ...resources.runtimeClasses,
  singular: 'runtimeclass',
  columns: [
    nameColumn,
    textColumn(
      'Handler',
      'handler specifies the underlying runtime and configuration that the CRI implementation will use to handle pods of this class.',
      ({ handler }) => handler ?? '',
    ),
    ageColumn,
  ],
  validate: validateRuntimeClass,
  validateUpdate: (next, previous) =>
    next.handler === previous.handler
      ? []
      : [fieldError.invalid('handler', next.handler ?? '', 'field is immutable')],
  allowUnconditionalUpdate: false,
}
