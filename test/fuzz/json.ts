/** JSON values: any at all, and objects that were well-formed before something was done to them. */
import type { Chance } from './chance.ts'
import { name, number, word } from './text.ts'

export function anyValue(chance: Chance, depth = 4): unknown {
  const kind = chance.below(depth > 0 ? 8 : 5)
  if (kind === 0) return null
  if (kind === 1) return chance.maybe(0.5)
  if (kind === 2) return number(chance)
  if (kind <= 4) return word(chance)
  if (kind === 5) return chance.some(4, () => anyValue(chance, depth - 1))
  return Object.fromEntries(chance.some(4, () => [word(chance), anyValue(chance, depth - 1)]))
}

type Container = Record<string, unknown> | unknown[]

/** Every object and list in the value down to the eighth level, itself first. */
function containers(value: unknown, levels = 8): Container[] {
  if (typeof value !== 'object' || value === null || levels === 0) return []
  return [value as Container, ...Object.values(value).flatMap(inner => containers(inner, levels - 1))]
}

/** The value with up to three things changed, anywhere. */
export function mutated(chance: Chance, value: unknown): unknown {
  const copy = structuredClone(value)
  for (let left = chance.below(4); left > 0; left--) {
    const all = containers(copy)
    if (all.length > 0) change(chance, chance.pick(all))
  }
  return copy
}

function change(chance: Chance, container: Container): void {
  const target = container as Record<string, unknown>
  const keys = Object.keys(target)
  const key = keys.length > 0 && chance.maybe(0.8) ? chance.pick(keys) : word(chance)
  const how = chance.below(5)
  if (Array.isArray(container) && how < 2) container.push(container[0] ?? anyValue(chance, 2))
  else if (how === 0) delete target[key]
  else if (how === 1) target[key] = target[chance.pick(keys.length > 0 ? keys : ['x'])]
  else if (how === 2 && !Array.isArray(container)) target[word(chance)] = anyValue(chance, 2)
  else if (key !== '__proto__')
    target[key] = chance.maybe(0.2) ? nested(chance.below(3000)) : anyValue(chance, 3)
}

/** A list in a list in a list … */
function nested(depth: number): unknown {
  let value: unknown = 'deep'
  for (let level = 0; level < depth; level++) value = [value]
  return value
}

/** The value's JSON, sometimes with a byte or a piece that does not belong there. */
export function jsonText(chance: Chance, value: unknown): string {
  const text = JSON.stringify(value) ?? 'null'
  if (chance.maybe(0.93)) return text
  const at = chance.below(text.length + 1)
  const piece = chance.pick([
    ',',
    '{',
    ']',
    '"__proto__":{"a":1},',
    '"kind":"X","kind":"Y",',
    '\\u0000',
    'NaN',
    '1e999',
    '\ufeff',
    '/**/',
    '[[['.repeat(1000),
  ])
  return chance.maybe(0.3) ? text.slice(0, at) : text.slice(0, at) + piece + text.slice(at)
}

/** YAML of the value or of nobody's. */
export function yamlText(chance: Chance, value: unknown): string {
  return chance.pick([
    JSON.stringify(value) ?? 'null',
    `a: &a [x,x,x]\nb: &b [*a,*a,*a]\nc: [*b,*b,*b]`,
    `--- ${name(chance)}\n--- again\n`,
    `? ${word(chance)}\n: !!binary ${word(chance)}`,
    `kind: ${word(chance)}\nmetadata: {name: ${word(chance)}}`,
    '!!js/function "x"',
    '- '.repeat(2000),
    `<<: {a: 1}\n"${word(chance)}": !!float .inf`,
  ])
}
