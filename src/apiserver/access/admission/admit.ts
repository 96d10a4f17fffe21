import type { ObjectReader } from '../../reader.ts'
import type { AdmissionRequest } from '../access.ts'
import type { Authorizer } from '../authorization/authorizer.ts'
import { guardRotationWrites } from './ca-rotations.ts'
import { guardPolicyWrites } from './certificate-policies.ts'
import { guardApproval, guardSigning, restrictSubject } from './certificate-requests.ts'
import { guardHeld } from './held-requests.ts'
import { protectNodeAddresses } from './node-addresses.ts'
import { restrictNode } from './node-restriction.ts'
import { guardEscalation } from './rbac-escalation.ts'
import { guardRolloverState } from './rollover-state.ts'
import { guardAttestation } from './trust-bundles.ts'

/** All admission, in Kubernetes' order: what may change objects first, then storage's checks, then validation. */
export function admit(
  request: AdmissionRequest,
  authorizer: Authorizer,
  reader: ObjectReader,
  apiAudiences: readonly string[],
  now: number,
): void {
  restrictNode(request, { reader, apiAudiences, authorize: authorizer.authorize })
  guardEscalation(request, authorizer, reader)
  guardPolicyWrites(request, authorizer.authorize)
  guardRotationWrites(request, authorizer.authorize)
  guardRolloverState(request, authorizer.authorize)
  protectNodeAddresses(request, authorizer.authorize, reader)
  if (request.group === 'certificates.k8s.io' && request.resource === 'certificatesigningrequests') {
    guardApproval(request, authorizer.authorize)
    guardHeld(request, now)
    guardSigning(request, authorizer.authorize)
    restrictSubject(request)
  }
  if (request.group === 'certificates.k8s.io' && request.resource === 'clustertrustbundles') {
    guardAttestation(request, authorizer.authorize)
  }
}
