import { absent, type Pattern } from './case.ts'

/** Every way in which `value` is not as `pattern` says, as sentences. */
export function mismatches(pattern: Pattern, value: unknown, path = 'body'): string[] {
  const wrong = (expected: unknown) => [`${path}: ${JSON.stringify(value)} instead of ${expected}`]
  if (pattern === absent) return value === undefined ? [] : wrong('nothing')
  if (pattern instanceof RegExp)
    return typeof value === 'string' && pattern.test(value) ? [] : wrong(String(pattern))
  if (Array.isArray(pattern)) {
    if (!Array.isArray(value) || value.length !== pattern.length) return wrong(`${pattern.length} elements`)
    return pattern.flatMap((one, index) => mismatches(one, value[index], `${path}[${index}]`))
  }
  if (typeof pattern === 'object' && pattern !== null) {
    if (typeof value !== 'object' || value === null) return wrong('an object')
    return Object.entries(pattern).flatMap(([field, one]) =>
      mismatches(one, (value as Record<string, unknown>)[field], `${path}.${field}`),
    )
  }
  return value === pattern ? [] : wrong(JSON.stringify(pattern))
}
