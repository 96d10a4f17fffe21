/** Kubernetes' ClusterRoles, as far as they concern resources that Rollcall serves (A-40). */
import type { ClusterRole } from '../../../kube/types.ts'
import { signerNames } from '../../../kube/types.ts'
import { nodeRules } from '../authorization/node-rules.ts'
import { allow, allowPaths, clusterRole, everyEvent, read } from './policy-objects.ts'

const csrGroup = 'certificates.k8s.io'
const csr = 'certificatesigningrequests'
const health = '/healthz /livez /readyz'

const forEverybody: ClusterRole[] = [
  clusterRole('cluster-admin', [allow('*', '*', '*'), { verbs: ['*'], nonResourceURLs: ['*'] }]),
  clusterRole('system:basic-user', [
    allow('create', 'authorization.k8s.io', 'selfsubjectaccessreviews selfsubjectrulesreviews'),
    allow('create', 'authentication.k8s.io', 'selfsubjectreviews'),
  ]),
  clusterRole('system:discovery', [
    allowPaths('/api /api/* /apis /apis/* /healthz /livez /openapi /openapi/* /readyz /version /version/'),
  ]),
  clusterRole('system:public-info-viewer', [allowPaths(`${health} /version /version/`)]),
  clusterRole('system:monitoring', [
    allowPaths('/healthz /healthz/* /livez /livez/* /metrics /metrics/slis /readyz /readyz/*'),
  ]),
  clusterRole('system:service-account-issuer-discovery', [
    allowPaths(
      '/.well-known/openid-configuration /.well-known/openid-configuration/ /openid/v1/jwks /openid/v1/jwks/',
    ),
  ]),
  clusterRole('system:cluster-trust-bundle-discovery', [allow(read, csrGroup, 'clustertrustbundles')]),
]

const forNodes: ClusterRole[] = [
  clusterRole('system:node', [...nodeRules]),
  clusterRole('system:node-bootstrapper', [allow(`create ${read}`, csrGroup, csr)]),
  clusterRole('system:node-problem-detector', [
    allow('get', '-', 'nodes'),
    allow('patch', '-', 'nodes/status'),
    everyEvent(),
  ]),
  clusterRole(`system:${csrGroup}:${csr}:nodeclient`, [allow('create', csrGroup, `${csr}/nodeclient`)]),
  clusterRole(`system:${csrGroup}:${csr}:selfnodeclient`, [
    allow('create', csrGroup, `${csr}/selfnodeclient`),
  ]),
  clusterRole('system:kubelet-api-admin', [
    allow(read, '-', 'nodes'),
    allow('proxy', '-', 'nodes'),
    allow('*', '-', 'nodes/configz nodes/healthz nodes/log nodes/metrics nodes/pods nodes/proxy nodes/stats'),
  ]),
]

const approvers: ClusterRole[] = Object.values(signerNames).map(signerName =>
  clusterRole(`system:${csrGroup}:${signerName.slice('kubernetes.io/'.length)}-approver`, [
    allow('approve', csrGroup, 'signers', signerName),
  ]),
)

const forComponents: ClusterRole[] = [
  clusterRole('system:auth-delegator', [
    allow('create', 'authentication.k8s.io', 'tokenreviews'),
    allow('create', 'authorization.k8s.io', 'subjectaccessreviews'),
  ]),
  clusterRole('system:kube-controller-manager', [
    everyEvent(),
    allow('create', 'coordination.k8s.io', 'leases'),
    allow('get update', 'coordination.k8s.io', 'leases', 'kube-controller-manager'),
    allow('create', '-', 'secrets serviceaccounts'),
    allow('delete', '-', 'secrets'),
    allow('get', '-', 'configmaps namespaces secrets serviceaccounts'),
    allow('update', '-', 'secrets serviceaccounts'),
    allow('create', 'authentication.k8s.io', 'tokenreviews'),
    allow('create', 'authorization.k8s.io', 'subjectaccessreviews'),
    allow('list watch', '*', '*'),
    allow('create', '-', 'serviceaccounts/token'),
  ]),
  clusterRole('system:kube-scheduler', [
    everyEvent(),
    allow('create', 'coordination.k8s.io', 'leases'),
    allow('get update', 'coordination.k8s.io', 'leases', 'kube-scheduler'),
    allow(read, '-', 'nodes'),
    allow(`delete ${read}`, '-', 'pods'),
    allow('create', '-', 'bindings pods/binding'),
    allow('patch update', '-', 'pods/status'),
    allow(read, '-', 'replicationcontrollers services'),
    allow('create', 'authentication.k8s.io', 'tokenreviews'),
    allow('create', 'authorization.k8s.io', 'subjectaccessreviews'),
    allow(read, 'storage.k8s.io', 'csinodes'),
    allow(read, '-', 'namespaces'),
    allow(read, 'storage.k8s.io', 'csidrivers'),
  ]),
]

const forControllers: ClusterRole[] = [
  clusterRole('system:controller:certificate-controller', [
    allow(`delete ${read}`, csrGroup, csr),
    allow('update', csrGroup, `${csr}/approval ${csr}/status`),
    allow('approve', csrGroup, 'signers', signerNames.kubeletClient),
    allow(
      'sign',
      csrGroup,
      'signers',
      `${signerNames.apiserverClient} ${signerNames.kubeletClient} ${signerNames.kubeletServing} ${signerNames.legacyUnknown}`,
    ),
    allow('create', 'authorization.k8s.io', 'subjectaccessreviews'),
    everyEvent(),
  ]),
  clusterRole('system:controller:root-ca-cert-publisher', [
    allow('create update', '-', 'configmaps'),
    everyEvent(),
  ]),
  clusterRole('system:controller:clusterrole-aggregation-controller', [
    allow('escalate get list patch update watch', 'rbac.authorization.k8s.io', 'clusterroles'),
  ]),
]

export const clusterRoles: readonly ClusterRole[] = [
  ...forEverybody,
  ...forNodes,
  ...approvers,
  ...forComponents,
  ...forControllers,
]
