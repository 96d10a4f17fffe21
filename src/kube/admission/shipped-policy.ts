import {
  admissionApiVersion,
  type ResourceRule,
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
} from './validating-policy.ts'

export interface ShippedPolicy {
  policy: ValidatingAdmissionPolicy
  binding: ValidatingAdmissionPolicyBinding
}

type Rules = Required<Pick<NonNullable<ValidatingAdmissionPolicy['spec']>, 'variables' | 'validations'>>

export function shipped(name: string, rule: ResourceRule, rules: Rules): ShippedPolicy {
  return {
    policy: {
      apiVersion: admissionApiVersion,
      kind: 'ValidatingAdmissionPolicy',
      metadata: { name },
      spec: { failurePolicy: 'Fail', matchConstraints: { resourceRules: [rule] }, ...rules },
    },
    binding: {
      apiVersion: admissionApiVersion,
      kind: 'ValidatingAdmissionPolicyBinding',
      metadata: { name },
      spec: { policyName: name, validationActions: ['Deny'] },
    },
  }
}
