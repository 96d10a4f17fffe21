/** Labels that the admission plugin NodeRestriction lets no node set, change or remove on itself. */

/** Set by kubeadm and its like. */
export const controlPlaneLabel = 'node-role.kubernetes.io/control-plane'

/** Those that exist for this: `node-restriction.kubernetes.io/…` and `….node-restriction.kubernetes.io/…`. */
export function isRestrictedLabel(label: string): boolean {
  const [prefix = ''] = label.split('/', 1)
  return label.includes('/') && /(^|\.)node-restriction\.kubernetes\.io$/.test(prefix)
}
