import { isRecord } from '../../kube/json.ts'
import { type Finding, refusal, warning } from './finding.ts'

/** What a field may hold. `refused`: Kubernetes knows it, but a static pod of ours cannot have it; the text says why. */
export type FieldRule =
  | 'string'
  | 'integer'
  | 'boolean'
  | 'port'
  | 'anything'
  | { mapOf: FieldRule }
  | { listOf: FieldRule }
  | { fields: Readonly<Record<string, FieldRule>> }
  | { refused: string; reason?: Finding['reason'] }

/**
 * Holds a value against a rule: a field that nobody knows is a warning, as Kubernetes drops it silently and a typing
 * error goes unseen; a wrong type and a field that cannot be honoured are errors. null counts as absent.
 */
export function checkFields(value: unknown, rule: FieldRule, path: string): Finding[] {
  if (value === undefined || value === null) return []
  if (typeof rule === 'string') {
    const wrong = scalarProblem(value, rule)
    return wrong ? [refusal('Invalid', `${path}: is ${shown(value)}, ${wrong}`)] : []
  }
  if ('refused' in rule) {
    return isEmpty(value) ? [] : [refusal(rule.reason ?? 'Unsupported', `${path}: ${rule.refused}`)]
  }
  if ('listOf' in rule) {
    if (!Array.isArray(value)) return [refusal('Invalid', `${path}: is no list`)]
    return value.flatMap((item, index) =>
      item === null
        ? [refusal('Invalid', `${path}[${index}]: is empty`)]
        : checkFields(item, rule.listOf, `${path}[${index}]`),
    )
  }
  if (!isRecord(value)) return [refusal('Invalid', `${path}: is no mapping`)]
  if ('mapOf' in rule) {
    return Object.entries(value).flatMap(([key, item]) => checkFields(item, rule.mapOf, `${path}[${key}]`))
  }
  return Object.entries(value).flatMap(([name, item]) => {
    const at = path === '' ? name : `${path}.${name}`
    if (Object.hasOwn(rule.fields, name)) return checkFields(item, rule.fields[name] ?? 'anything', at)
    return [warning('UnknownField', `${at}: no such field; it has no effect`)]
  })
}

function scalarProblem(value: unknown, rule: string): string | undefined {
  if (rule === 'string') return typeof value === 'string' ? undefined : 'not a string; put it in quotes'
  if (rule === 'integer') return Number.isSafeInteger(value) ? undefined : 'not a whole number'
  if (rule === 'boolean') return typeof value === 'boolean' ? undefined : 'neither true nor false'
  if (rule !== 'port' || typeof value === 'string') return undefined
  const isPort = Number.isInteger(value) && Number(value) >= 1 && Number(value) <= 65_535
  return isPort ? undefined : 'neither a port number nor the name of a port'
}

function isEmpty(value: unknown): boolean {
  if (value === '' || value === false || value === 0) return true
  if (Array.isArray(value)) return value.length === 0
  return isRecord(value) && Object.keys(value).length === 0
}

/** The value for a message, cut short. */
function shown(value: unknown): string {
  const text = JSON.stringify(value) ?? String(value)
  return text.length <= 60 ? text : `${text.slice(0, 59)}…`
}
