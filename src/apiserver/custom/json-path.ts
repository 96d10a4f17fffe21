/** The JSONPath of printer columns: `.a.b`, `['a']`, `[0]`, `[*]`, `[?(@.type=="Ready")]`. */
import { isRecord } from '../../kube/json.ts'

type Step = (value: unknown) => unknown[]

const segment =
  /\.(?<name>(?:\\.|[^.[\]\\])+)|\[(?:'(?<single>[^']*)'|"(?<double>[^"]*)"|(?<index>-?\d+)|(?<all>\*)|\?\(@(?<where>[^=!]+?)\s*(?<operator>==|!=)\s*["'](?<literal>[^"']*)["']\))\]/y

const field =
  (name: string): Step =>
  value =>
    isRecord(value) && Object.hasOwn(value, name) ? [value[name]] : []

const index =
  (at: number): Step =>
  value => {
    const item = Array.isArray(value) ? value.at(at) : undefined
    return item === undefined ? [] : [item]
  }

const items: Step = value => (Array.isArray(value) ? value : isRecord(value) ? Object.values(value) : [])

function where(path: string, equal: boolean, literal: string): Step {
  const find = compileJsonPath(path)
  return value => items(value).filter(item => find(item).some(found => String(found) === literal) === equal)
}

function stepOf(groups: Readonly<Record<string, string | undefined>>): Step {
  const { name, single, double, index: at, all, where: path, operator, literal } = groups
  if (name !== undefined) return field(name.replaceAll(/\\(.)/g, '$1'))
  if (at !== undefined) return index(Number(at))
  if (all !== undefined) return items
  if (path !== undefined) return where(path, operator === '==', literal ?? '')
  return field(single ?? double ?? '')
}

/** All values at the path, in order. Throws RangeError for a path that it does not understand. */
export function compileJsonPath(path: string): (value: unknown) => unknown[] {
  const steps: Step[] = []
  const reader = new RegExp(segment)
  while (reader.lastIndex < path.length) {
    const at = reader.lastIndex
    const groups = reader.exec(path)?.groups
    if (!groups)
      throw new RangeError(`JSONPath ${path}: cannot read it from ${JSON.stringify(path.slice(at))}`)
    steps.push(stepOf(groups))
  }
  return value => steps.reduce((found, step) => found.flatMap(step), [value])
}
