/** admissionregistration.k8s.io/v1: the parts of ValidatingAdmissionPolicy and its binding that are looked at here. */
import type { KubeObject, ResourceRef } from '../types.ts'

const group = 'admissionregistration.k8s.io'
export const admissionApiVersion = `${group}/v1`

const inGroup = (plural: string, kind: string): ResourceRef => ({
  group,
  version: 'v1',
  plural,
  kind,
  namespaced: false,
})

export const validatingAdmissionPolicies = inGroup('validatingadmissionpolicies', 'ValidatingAdmissionPolicy')
export const validatingAdmissionPolicyBindings = inGroup(
  'validatingadmissionpolicybindings',
  'ValidatingAdmissionPolicyBinding',
)

export interface MatchResources {
  matchPolicy?: string
  namespaceSelector?: object
  objectSelector?: object
  resourceRules?: readonly ResourceRule[]
  excludeResourceRules?: readonly ResourceRule[]
}

export interface ResourceRule {
  apiGroups?: readonly string[]
  apiVersions?: readonly string[]
  operations?: readonly string[]
  resources?: readonly string[]
  resourceNames?: readonly string[]
  scope?: string
}

export interface ValidatingAdmissionPolicy extends KubeObject {
  spec?: {
    failurePolicy?: string
    matchConstraints?: MatchResources
    matchConditions?: readonly object[]
    paramKind?: object
    variables?: readonly { name?: string; expression?: string }[]
    validations?: readonly {
      expression?: string
      message?: string
      messageExpression?: string
      reason?: string
    }[]
    auditAnnotations?: readonly object[]
  }
}

export interface ValidatingAdmissionPolicyBinding extends KubeObject {
  spec?: {
    policyName?: string
    validationActions?: readonly string[]
    paramRef?: object
    matchResources?: MatchResources
  }
}
