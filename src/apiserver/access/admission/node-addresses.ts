/** deploy/admission/protect-node-addresses.yaml, enforced natively while it and its binding are stored. */
import { inForce } from '../../../kube/admission/in-force.ts'
import { addressVerb, nodeAddressProtection } from '../../../kube/admission/shipped.ts'
import {
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from '../../../kube/admission/validating-policy.ts'
import { sameJson } from '../../../kube/json.ts'
import type { KubeNode, KubeObject } from '../../../kube/types.ts'
import type { ObjectReader } from '../../reader.ts'
import type { AdmissionRequest, Attributes, Decision } from '../access.ts'
import { systemGroups } from '../system-identities.ts'
import { refuse } from './refuse.ts'

/** On writes of Nodes and their status. Throws ApiError 403. */
export function protectNodeAddresses(
  request: AdmissionRequest,
  authorize: (attributes: Attributes) => Decision,
  reader: ObjectReader,
): void {
  const { group, resource, operation, object, oldObject, user } = request
  if (group !== '' || resource !== 'nodes' || operation === 'DELETE' || !isProtected(reader)) return
  const [before, after] = [addressesOf(oldObject), addressesOf(object)]
  if (sameJson(before, after)) return
  const name = object?.metadata.name ?? ''
  if (before.length === 0 && after.every(address => address === `Hostname ${name}`)) return
  const attributes = { user, verb: addressVerb, group: '', version: '*', resource: 'nodes', name }
  if (!user.groups.includes(systemGroups.nodes) && authorize(attributes).allowed) return
  const [validation] = nodeAddressProtection.policy.spec?.validations ?? []
  throw refuse(request, validation?.message ?? '')
}

function isProtected(reader: ObjectReader): boolean {
  const bindings = reader.list<ValidatingAdmissionPolicyBinding>(validatingAdmissionPolicyBindings)
  // Where nobody bound anything, a Node's status costs no more than this.
  if (bindings.length === 0) return false
  const policies = reader.list<ValidatingAdmissionPolicy>(validatingAdmissionPolicies)
  return inForce(nodeAddressProtection, [...policies], [...bindings]).inForce
}

function addressesOf(object: KubeObject | undefined): string[] {
  const { addresses = [] } = (object as KubeNode | undefined)?.status ?? {}
  return addresses.map(({ type, address }) => `${type} ${address}`)
}
