/** Labels that exist for this: the admission plug-in NodeRestriction lets no node set, change or remove them. */
export function isRestrictedLabel(label: string): boolean {
  const [prefix = ''] = label.split('/', 1)
  return label.includes('/') && /(^|\.)node-restriction\.kubernetes\.io$/.test(prefix)
}
