/** The admission policies that Rollcall ships (deploy/admission): written once here, in CEL for a real cluster. */
import { certificatePolicies } from '../rollcall/certificate-policy.ts'
import { nodeIdentities } from '../rollcall/node-identity.ts'
import { type ClusterRole, signerNames } from '../types.ts'
import { fourEyes } from './four-eyes.ts'
import { shipped } from './shipped-policy.ts'

export type { ShippedPolicy } from './shipped-policy.ts'

/** Who writes policies, or lets machines in, decides who is certified: he must hold the right to approve himself. */
export const policyWriterSigners = [signerNames.kubeletServing, signerNames.kubeletClient] as const

const mayApprove = (signerName: string) =>
  [signerName, 'kubernetes.io/*']
    .map(
      name =>
        `authorizer.group('certificates.k8s.io').resource('signers').name('${name}').check('approve').allowed()`,
    )
    .join(' || ')

export const certificatePolicyWriters = shipped(
  'rollcall-certificate-policy-writers',
  {
    apiGroups: [certificatePolicies.group],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    resources: [certificatePolicies.plural, nodeIdentities.plural],
  },
  {
    variables: [],
    validations: policyWriterSigners.map(signerName => ({
      expression: mayApprove(signerName),
      message: `user not permitted to write certificate policies and node identities: needs verb approve on signers/${signerName} (certificates.k8s.io)`,
      reason: 'Forbidden',
    })),
  },
)

/** The verb on nodes that lets somebody write addresses; no node has it, whatever its roles say. */
export const addressVerb = 'set-addresses'

/**
 * Status.addresses of a Node change by the hand of a cloud controller or an operator only. A node may name itself: it
 * is made with nothing but its own name as Hostname.
 */
export const nodeAddressProtection = shipped(
  'rollcall-protect-node-addresses',
  {
    apiGroups: [''],
    apiVersions: ['v1'],
    operations: ['CREATE', 'UPDATE'],
    resources: ['nodes', 'nodes/status'],
  },
  {
    variables: [
      {
        name: 'before',
        expression:
          "request.operation == 'CREATE' || !has(oldObject.status) || !has(oldObject.status.addresses) ? [] : oldObject.status.addresses.map(a, a.type + ' ' + a.address)",
      },
      {
        name: 'after',
        expression:
          "!has(object.status) || !has(object.status.addresses) ? [] : object.status.addresses.map(a, a.type + ' ' + a.address)",
      },
      {
        name: 'trusted',
        expression: `!request.userInfo.groups.exists(g, g == 'system:nodes') && authorizer.group('').resource('nodes').name(object.metadata.name).check('${addressVerb}').allowed()`,
      },
    ],
    validations: [
      {
        expression:
          "variables.before == variables.after || variables.trusted || (variables.before.size() == 0 && variables.after.all(a, a == 'Hostname ' + object.metadata.name))",
        message: `status.addresses is written by the cloud controller or an operator: verb ${addressVerb} on nodes, and never by a node`,
        reason: 'Forbidden',
      },
    ],
  },
)

/** For a cloud controller: bind it to the user or ServiceAccount that it runs as. */
export const nodeAddressWriter: ClusterRole = {
  apiVersion: 'rbac.authorization.k8s.io/v1',
  kind: 'ClusterRole',
  metadata: { name: 'rollcall:node-address-writer' },
  rules: [{ apiGroups: [''], resources: ['nodes'], verbs: [addressVerb] }],
}

export const shippedPolicies = [certificatePolicyWriters, nodeAddressProtection, fourEyes] as const
