/** Which labels a node may put on its own Node object. */

const kubeletLabels: ReadonlySet<string> = new Set([
  'kubernetes.io/hostname',
  'topology.kubernetes.io/zone',
  'topology.kubernetes.io/region',
  'failure-domain.beta.kubernetes.io/zone',
  'failure-domain.beta.kubernetes.io/region',
  'node.kubernetes.io/instance-type',
  'beta.kubernetes.io/instance-type',
  'kubernetes.io/os',
  'kubernetes.io/arch',
  'beta.kubernetes.io/os',
  'beta.kubernetes.io/arch',
])

const isIn = (namespace: string, domain: string) => namespace === domain || namespace.endsWith(`.${domain}`)

function isForbidden(label: string): boolean {
  const slash = label.indexOf('/')
  const namespace = slash < 0 ? '' : label.slice(0, slash)
  if (isIn(namespace, 'node-restriction.kubernetes.io')) return true
  if (!isIn(namespace, 'kubernetes.io') && !isIn(namespace, 'k8s.io')) return false
  if (kubeletLabels.has(label)) return false
  return !isIn(namespace, 'kubelet.kubernetes.io') && !isIn(namespace, 'node.kubernetes.io')
}

type Labels = Readonly<Record<string, string>>

/** Labels that differ between the two and that a node may neither add, change nor remove; sorted. */
export function forbiddenLabelChanges(next: Labels = {}, previous: Labels = {}): string[] {
  const before = new Map(Object.entries(previous))
  const after = new Map(Object.entries(next))
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter(label => before.get(label) !== after.get(label) && isForbidden(label))
    .sort()
}
