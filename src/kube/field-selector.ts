/** Field selectors: `metadata.name=a,type!=b` with `\`-escapes; only the fields that a resource names can be selected on. */
import { RollcallError } from '../errors.ts'
import type { KubeObject } from './types.ts'

export interface FieldRequirement {
  path: string
  operator: '=' | '!='
  value: string
}

export type FieldSelector = readonly FieldRequirement[]

/** What a resource lets select on; see apiserver/resources/resource.ts. */
export interface SelectableFields {
  namespaced: boolean
  selectableFields?: readonly { path: string; value(object: never): string }[]
}

const invalid = (message: string) => new RollcallError('SELECTOR_INVALID', message)

/** Cuts at commas that no backslash escapes; the escapes stay for `unescapeValue`. */
function termsOf(text: string): string[] {
  const terms: string[] = []
  let start = 0
  for (let at = 0; at < text.length; at++) {
    if (text[at] === '\\') at++
    else if (text[at] === ',') {
      terms.push(text.slice(start, at))
      start = at + 1
    }
  }
  terms.push(text.slice(start))
  return terms.filter(term => term !== '')
}

function unescapeValue(value: string): string {
  let plain = ''
  for (let at = 0; at < value.length; at++) {
    const character = value.charAt(at)
    if (character === '\\') {
      const escaped = value.charAt(++at)
      if (escaped === '' || !'\\,='.includes(escaped)) {
        throw invalid(`invalid field selector: invalid escape sequence: \\${escaped}`)
      }
      plain += escaped
    } else if (character === ',' || character === '=') {
      throw invalid(`invalid field selector: unescaped character in value: ${character.charCodeAt(0)}`)
    } else plain += character
  }
  return plain
}

/** Throws RollcallError SELECTOR_INVALID with the text that Kubernetes answers (400). An empty text selects all. */
export function parseFieldSelector(text: string): FieldSelector {
  return termsOf(text).map(term => {
    const match = /^(.*?)(!=|==|=)(.*)$/s.exec(term)
    if (!match) throw invalid(`invalid selector: '${text}'; can't understand '${term}'`)
    const [, path = '', operator, value = ''] = match
    return { path, operator: operator === '!=' ? '!=' : '=', value: unescapeValue(value) }
  })
}

/**
 * Throws RollcallError SELECTOR_INVALID (400) when the selector names a field that the resource does not offer (A-10).
 * Resources without fields of their own answer with the text of Kubernetes' default conversion.
 */
export function requireSupportedFields(selector: FieldSelector, resource: SelectableFields): void {
  for (const { path } of selector) {
    if (path === 'metadata.name') continue
    const own = resource.selectableFields
    if (own?.some(field => field.path === path)) continue
    if (path === 'metadata.namespace' && (resource.namespaced || !own)) continue
    throw invalid(
      own
        ? `field label not supported: ${path}`
        : `"${path}" is not a known field selector: only "metadata.name", "metadata.namespace"`,
    )
  }
}

function fieldOf<T extends KubeObject>(
  object: T,
  path: string,
  fields: readonly { path: string; value(object: T): string }[],
): string {
  if (path === 'metadata.name') return object.metadata.name
  if (path === 'metadata.namespace') return object.metadata.namespace ?? ''
  return fields.find(field => field.path === path)?.value(object) ?? ''
}

/** Whether all requirements hold; a field that is not set compares as ''. Check with requireSupportedFields first. */
export function matchesFields<T extends KubeObject>(
  selector: FieldSelector,
  object: T,
  selectableFields: readonly { path: string; value(object: T): string }[] = [],
): boolean {
  return selector.every(
    ({ path, operator, value }) => (fieldOf(object, path, selectableFields) === value) === (operator === '='),
  )
}

/** The value that the selector demands of the field, e.g. of metadata.name; for reads that need only one object. */
export function requiredValue(selector: FieldSelector, path: string): string | undefined {
  return selector.find(requirement => requirement.path === path && requirement.operator === '=')?.value
}
