/** A kind of ours as a resource of the embedded API: what a cluster makes of its CustomResourceDefinition. */
import type { RollcallKind } from '../../kube/rollcall/kind.ts'
import { objectSchema } from '../../kube/rollcall/object-schema.ts'
import type { KubeObject } from '../../kube/types.ts'
import type { StoredResource, Subresource, Verb } from '../resources/resource.ts'
import { storedDefaults } from '../resources/stored-defaults.ts'
import { type FieldError, fieldError } from '../wire/field-error.ts'
import { applyDefaults } from './apply-defaults.ts'
import { fieldErrorOf } from './complaint.ts'
import { printerColumns } from './printer-columns.ts'
import { valueErrors } from './validate-value.ts'

interface CustomObject extends KubeObject {
  spec?: unknown
  status?: unknown
}

/** In the order in which Kubernetes names them for custom resources. */
const verbs: readonly Verb[] = [
  'delete',
  'deletecollection',
  'get',
  'list',
  'patch',
  'create',
  'update',
  'watch',
]

/** Errors after which the object may not have the form that rules rely on. */
const blocking: readonly FieldError['type'][] = [
  'NotSupported',
  'Required',
  'TooLong',
  'TooMany',
  'TypeInvalid',
]
const isBlocking = ({ type }: FieldError) => blocking.includes(type)

/** What Kubernetes adds then for a kind that has CEL rules. */
const rulesNotChecked = fieldError.invalid(
  '<nil>',
  'null',
  'some validation rules were not checked because the object was invalid; correct the existing errors to complete validation',
)

/** Schema first; what it cannot say is asked only of objects that it accepts, as CEL rules are. */
function judge(kind: RollcallKind): (object: CustomObject, previous?: CustomObject) => FieldError[] {
  const schema = objectSchema(kind)
  const hasRules = JSON.stringify(schema).includes('"x-kubernetes-validations":')
  // What was stored may be older than the schema, and not of the types that complaints rely on.
  const fits = (object: CustomObject) => valueErrors(schema, object, '').length === 0
  const complaintsOf = (object: CustomObject, previous?: CustomObject) =>
    kind.complaints && fits(object)
      ? kind.complaints(object, previous && fits(previous) ? previous : undefined)
      : []
  return (object, previous) => {
    const errors = valueErrors(schema, object, '', previous)
    if (errors.length > 0) return hasRules && errors.some(isBlocking) ? [...errors, rulesNotChecked] : errors
    const complaints = complaintsOf(object, previous)
    const before = previous && complaints.length > 0 ? complaintsOf(previous) : []
    return complaints.filter(complaint => !before.includes(complaint)).map(fieldErrorOf)
  }
}

function withStatusOf(next: CustomObject, previous: CustomObject): void {
  if (previous.status === undefined) delete next.status
  else next.status = structuredClone(previous.status)
}

/** Changes status alone: not even metadata. */
function status(
  defaults: (object: CustomObject) => void,
  judged: ReturnType<typeof judge>,
): Subresource<CustomObject> {
  return {
    verbs: ['get', 'patch', 'update'],
    prepareForUpdate(next, previous) {
      const { status: given } = next
      for (const key of Object.keys(next)) Reflect.deleteProperty(next, key)
      Object.assign(next, structuredClone(previous))
      if (given === undefined) delete next.status
      else next.status = given
      defaults(next)
    },
    validateUpdate: judged,
  }
}

/** Throws RangeError when a column's JSONPath cannot be read. */
export function customResource(kind: RollcallKind): StoredResource<CustomObject> {
  const schema = objectSchema(kind)
  const judged = judge(kind)
  const defaults = (object: CustomObject) => applyDefaults(schema, object)
  return {
    ...storedDefaults,
    ...kind.ref,
    singular: kind.singular,
    shortNames: kind.shortNames,
    verbs,
    columns: printerColumns(kind.columns),
    structural: schema,
    prepareForCreate(object) {
      delete object.status
      defaults(object)
    },
    prepareForUpdate(next, previous) {
      withStatusOf(next, previous)
      defaults(next)
    },
    validate: object => judged(object),
    validateUpdate: judged,
    subresources: kind.status ? { status: status(defaults, judged) } : {},
    hasGeneration: true,
    allowUnconditionalUpdate: false,
  }
}
