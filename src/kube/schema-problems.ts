/** What a value has wrong by a structural schema, each with its place. */
import { isRecord } from './json.ts'
import type { StructuralSchema } from './rollcall/kind.ts'

export type Path = readonly (string | number)[]

export interface Problem {
  path: Path
  /** E.g. `must be an integer`. */
  text: string
}

/** `['spec', 'pools', 1, 'name']` as `spec.pools[1].name`; a key that has dots or slashes as `[key]`. */
export function pathText(path: Path): string {
  return path
    .map((step, index) => {
      if (typeof step === 'number' || /[./]/.test(step)) return `[${step}]`
      return index === 0 ? step : `.${step}`
    })
    .join('')
}

/** Problems told at most: a document that is wrong everywhere would make a report as long as itself. */
const mostProblems = 20

/** The first problems in the order of the document. Unknown fields are refused: they would say what nobody heeds. */
export function schemaProblems(schema: StructuralSchema, value: unknown, path: Path = []): Problem[] {
  const problems: Problem[] = []
  collect(schema, value, path, problems)
  return problems.slice(0, mostProblems)
}

function collect(schema: StructuralSchema, value: unknown, path: Path, problems: Problem[]): void {
  if (problems.length >= mostProblems) return
  const text = ownProblem(schema, value)
  if (text !== undefined) problems.push({ path, text })
  else if (Array.isArray(value)) collectItems(schema, value, path, problems)
  else if (isRecord(value)) collectFields(schema, value, path, problems)
}

function collectItems(
  { items }: StructuralSchema,
  value: readonly unknown[],
  path: Path,
  problems: Problem[],
): void {
  for (const [index, item] of value.entries()) if (items) collect(items, item, [...path, index], problems)
}

function collectFields(
  schema: StructuralSchema,
  value: Readonly<Record<string, unknown>>,
  path: Path,
  problems: Problem[],
): void {
  const { properties, additionalProperties, required = [] } = schema
  for (const name of required)
    if (value[name] === undefined) problems.push({ path, text: `must have the field ${name}` })
  for (const [name, item] of Object.entries(value)) {
    const known = properties && Object.hasOwn(properties, name) ? properties[name] : additionalProperties
    if (known) collect(known, item, [...path, name], problems)
    else if (!schema['x-kubernetes-preserve-unknown-fields'])
      problems.push({ path: [...path, name], text: unknownField(name, Object.keys(properties ?? {})) })
  }
}

const unknownField = (name: string, known: readonly string[]) =>
  `is an unknown field${nearest(name, known)}; known are ${known.join(', ')}`

/** ` (did you mean allowedRanges?)` where one letter or the case differs. */
function nearest(name: string, known: readonly string[]): string {
  const found = known.find(other => {
    const [a, b] = [name.toLowerCase(), other.toLowerCase()]
    return a === b || a.startsWith(b) || b.startsWith(a)
  })
  return found === undefined ? '' : ` (did you mean ${found}?)`
}

function ownProblem(schema: StructuralSchema, value: unknown): string | undefined {
  switch (schema.type) {
    case 'object':
      return isRecord(value) ? undefined : 'must have fields'
    case 'array':
      return Array.isArray(value) ? countProblem(schema, value.length) : 'must be a list'
    case 'string':
      return typeof value === 'string' ? textProblem(schema, value) : 'must be a string'
    case 'boolean':
      return typeof value === 'boolean' ? undefined : 'must be true or false'
    case 'integer':
      return Number.isSafeInteger(value) ? rangeProblem(schema, Number(value)) : 'must be a whole number'
    case 'number':
      return typeof value === 'number' ? rangeProblem(schema, value) : 'must be a number'
  }
}

function countProblem(
  { minItems = 0, maxItems = Number.POSITIVE_INFINITY }: StructuralSchema,
  count: number,
) {
  if (count < minItems) return `must have at least ${minItems} items`
  return count > maxItems ? `must have at most ${maxItems} items, not ${count}` : undefined
}

function textProblem(schema: StructuralSchema, value: string): string | undefined {
  const { minLength = 0, maxLength = Number.POSITIVE_INFINITY, pattern } = schema
  if (schema.enum && !schema.enum.includes(value)) return `must be ${schema.enum.join(' or ')}`
  if (value.length < minLength) return 'must not be empty'
  if (value.length > maxLength) return `must be at most ${maxLength} characters long`
  return pattern !== undefined && !new RegExp(pattern).test(value) ? `must match ${pattern}` : undefined
}

function rangeProblem(schema: StructuralSchema, value: number): string | undefined {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY } = schema
  if (value < minimum) return `must be at least ${minimum}`
  return value > maximum ? `must be at most ${maximum}` : undefined
}
