/** Set by kubeadm and its like; NodeRestriction lets no node set, change or remove it on itself. */
export const controlPlaneLabel = 'node-role.kubernetes.io/control-plane'
