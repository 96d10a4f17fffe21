/**
 * ValidatingAdmissionPolicy and its binding. The embedded API evaluates no CEL: it takes only the policies that Rollcall
 * ships, unchanged, and enforces those itself (access/admission). Any other would be stored and do nothing.
 */
import { matchesShipped } from '../../kube/admission/in-force.ts'
import { shippedPolicies } from '../../kube/admission/shipped.ts'
import {
  validatingAdmissionPolicyBindings as bindingsRef,
  validatingAdmissionPolicies as policiesRef,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
} from '../../kube/admission/validating-policy.ts'
import type { RollcallKind, StructuralSchema } from '../../kube/rollcall/kind.ts'
import { customResource } from '../custom/custom-resource.ts'

const anything: StructuralSchema = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true }
const age = {
  name: 'Age',
  type: 'date',
  jsonPath: '.metadata.creationTimestamp',
  description: 'Since its creation.',
} as const

const ours = shippedPolicies.map(({ policy }) => policy.metadata.name).join(', ')

function kind(what: Pick<RollcallKind, 'ref' | 'singular' | 'description' | 'complaints'>): RollcallKind {
  return { ...what, shortNames: [], spec: anything, columns: [age] }
}

export const validatingAdmissionPolicies = customResource(
  kind({
    ref: policiesRef,
    singular: 'validatingadmissionpolicy',
    description: 'An admission policy of deploy/admission; the embedded API takes no others.',
    complaints(object) {
      const policy = object as ValidatingAdmissionPolicy
      const same = shippedPolicies.find(shipped => shipped.policy.metadata.name === policy.metadata.name)
      if (same && matchesShipped(policy, same)) return []
      return [`spec: the embedded API evaluates no CEL; it takes ${ours} as in deploy/admission, unchanged`]
    },
  }),
)

export const validatingAdmissionPolicyBindings = customResource(
  kind({
    ref: bindingsRef,
    singular: 'validatingadmissionpolicybinding',
    description: 'What brings an admission policy of deploy/admission into force.',
    complaints(object) {
      const { spec = {} } = object as ValidatingAdmissionPolicyBinding
      const { policyName, validationActions, paramRef, matchResources } = spec
      const plain = validationActions?.length === 1 && validationActions[0] === 'Deny'
      if (shippedPolicies.some(({ policy }) => policy.metadata.name === policyName) && plain)
        return paramRef || matchResources
          ? ['spec: the embedded API takes bindings without paramRef and matchResources only']
          : []
      return [`spec: the embedded API takes bindings of ${ours} with validationActions [Deny] only`]
    },
  }),
)
