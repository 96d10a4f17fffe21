/** The subjects that kubeadm gives the certificates of a control plane, and our own two. */
export const identities = {
  /** kubeadm's admin (since 1.29), bound to cluster-admin by `kubeadm:cluster-admins`. */
  admin: { commonName: 'kubernetes-admin', organizations: ['kubeadm:cluster-admins'] },
  /** The embedded API's own loopback client: seeds objects that authorization itself needs. In memory only. */
  apiserver: { commonName: 'system:apiserver', organizations: ['system:masters'] },
  /** The controllers inside `up` and `server`: Kubernetes' service account of the CSR controllers, by certificate. */
  controllers: { commonName: 'rollcall:controllers', organizations: ['rollcall:controllers'] },
  apiserverServing: { commonName: 'kube-apiserver', organizations: [] },
  /**
   * Bound to system:kubelet-api-admin. kubeadm makes it a cluster administrator: a Node that names the API server itself
   * as its kubelet would lend that to everybody who may proxy to nodes.
   */
  apiserverKubeletClient: {
    commonName: 'kube-apiserver-kubelet-client',
    organizations: ['rollcall:kubelet-clients'],
  },
} as const satisfies Record<string, { commonName: string; organizations: readonly string[] }>

/** The embedded API's names, as kubeadm writes them, with the first address of the default service range. */
export const apiserverDnsNames = [
  'kubernetes',
  'kubernetes.default',
  'kubernetes.default.svc',
  'kubernetes.default.svc.cluster.local',
  'localhost',
]
export const serviceRange = '10.96.0.0/12'
export const apiServiceAddress = '10.96.0.1'
export const clusterDomain = 'cluster.local'
