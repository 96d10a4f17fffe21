/** Everything that the embedded API serves. Adding a resource is one file and one line here. */
import { rollcallKinds } from '../../kube/rollcall/index.ts'
import { customResource } from '../custom/custom-resource.ts'
import { validatingAdmissionPolicies, validatingAdmissionPolicyBindings } from './admission-policies.ts'
import { certificateSigningRequests } from './certificatesigningrequests.ts'
import { clusterRoleBindings } from './clusterrolebindings.ts'
import { clusterRoles } from './clusterroles.ts'
import { clusterTrustBundles } from './clustertrustbundles.ts'
import { configMaps } from './configmaps.ts'
import { csiDrivers } from './csidrivers.ts'
import { csiNodes } from './csinodes.ts'
import { customResourceDefinitions } from './customresourcedefinitions.ts'
import { endpoints } from './endpoints.ts'
import { endpointSlices } from './endpointslices.ts'
import { events } from './events.ts'
import { leases } from './leases.ts'
import { namespaces } from './namespaces.ts'
import { nodes } from './nodes.ts'
import { pods } from './pods.ts'
import type { Resource } from './resource.ts'
import { resourceSlices } from './resourceslices.ts'
import { roleBindings } from './rolebindings.ts'
import { roles } from './roles.ts'
import { runtimeClasses } from './runtimeclasses.ts'
import { secrets } from './secrets.ts'
import { selfSubjectAccessReviews } from './selfsubjectaccessreviews.ts'
import { selfSubjectReviews } from './selfsubjectreviews.ts'
import { selfSubjectRulesReviews } from './selfsubjectrulesreviews.ts'
import { serviceAccounts } from './serviceaccounts.ts'
import { services } from './services.ts'
import { localSubjectAccessReviews, subjectAccessReviews } from './subjectaccessreviews.ts'
import { tokenReviews } from './tokenreviews.ts'

export const allResources: readonly Resource[] = [
  configMaps,
  endpoints,
  events,
  namespaces,
  nodes,
  pods,
  secrets,
  serviceAccounts,
  services,
  selfSubjectReviews,
  tokenReviews,
  localSubjectAccessReviews,
  selfSubjectAccessReviews,
  selfSubjectRulesReviews,
  subjectAccessReviews,
  certificateSigningRequests,
  clusterTrustBundles,
  leases,
  endpointSlices,
  runtimeClasses,
  resourceSlices,
  clusterRoleBindings,
  clusterRoles,
  roleBindings,
  roles,
  csiDrivers,
  csiNodes,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
  customResourceDefinitions,
  ...rollcallKinds.map(customResource),
]
