/**
 * The value as it would come out of its own JSON, without what Kubernetes takes for absent: fields that are undefined or
 * null are left out. For values that programs in this process hand over; they are copied, never changed.
 */
export function plainCopy(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value
  if (Array.isArray(value)) return value.map(item => (item === undefined ? null : plainCopy(item)))
  const copy: Record<string, unknown> = {}
  for (const key of Object.keys(value)) {
    const field = (value as Record<string, unknown>)[key]
    if (field === undefined || field === null) continue
    copy[key] = typeof field === 'object' ? plainCopy(field) : field
  }
  return copy
}
