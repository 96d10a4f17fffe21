/** Whether two JSON values mean the same to Kubernetes: absent, null and empty lists or maps are equal. */
export function semanticallyEqual(a: unknown, b: unknown): boolean {
  if (isEmpty(a) && isEmpty(b)) return true
  if (a === b) return true
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false
  if (Array.isArray(a) !== Array.isArray(b)) return false
  const left = new Map(Object.entries(a))
  const right = new Map(Object.entries(b))
  return [...new Set([...left.keys(), ...right.keys()])].every(key =>
    semanticallyEqual(left.get(key), right.get(key)),
  )
}

function isEmpty(value: unknown): boolean {
  return (
    value === undefined || value === null || (typeof value === 'object' && Object.keys(value).length === 0)
  )
}
