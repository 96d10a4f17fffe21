/** Bodies of PATCH by media type, and the media types themselves. */
import type { Chance } from './chance.ts'
import { anyValue, mutated } from './json.ts'
import { name, word } from './text.ts'

export const patchTypes = [
  'application/json-patch+json',
  'application/merge-patch+json',
  'application/strategic-merge-patch+json',
]

const pointers = [
  '',
  '/',
  '/metadata',
  '/metadata/labels',
  '/metadata/labels/app',
  '/metadata/name',
  '/metadata/finalizers/-',
  '/metadata/finalizers/0',
  '/spec',
  '/status/conditions/0',
  '/data/a',
  '/~0~1~2',
  '/__proto__/x',
  '/constructor/prototype',
  '/metadata/finalizers/99999999999',
  '/metadata/finalizers/-1',
]

export function patchBody(chance: Chance, type: string, object: unknown): unknown {
  if (type === 'application/json-patch+json' && chance.maybe(0.9))
    return chance.some(6, () => operation(chance))
  const patch = mutated(chance, object)
  if (type === patchTypes[2] && typeof patch === 'object' && patch) directives(chance, patch)
  return chance.maybe(0.9) ? patch : anyValue(chance)
}

function operation(chance: Chance): unknown {
  const pointer = () => (chance.maybe(0.8) ? chance.pick(pointers) : `/${word(chance)}/${name(chance)}`)
  return {
    op: chance.maybe(0.95) ? chance.pick(['add', 'remove', 'replace', 'move', 'copy', 'test']) : word(chance),
    ...(chance.maybe(0.95) && { path: pointer() }),
    ...(chance.maybe(0.5) && { from: pointer() }),
    ...(chance.maybe(0.8) && { value: anyValue(chance, 3) }),
  }
}

/** Strategic merge's own words, where they belong and where they do not. */
function directives(chance: Chance, patch: object): void {
  const target = chance.pick([
    patch,
    ...Object.values(patch).filter(value => typeof value === 'object' && value),
  ])
  Object.assign(
    target as object,
    chance.pick<object>([
      { $patch: 'delete' },
      { $patch: 'replace' },
      { $patch: word(chance) },
      { $retainKeys: ['a'] },
      { $retainKeys: anyValue(chance, 1) },
      { '$setElementOrder/conditions': [{ type: 'Ready' }] },
      { '$setElementOrder/finalizers': anyValue(chance, 2) },
      { '$deleteFromPrimitiveList/finalizers': ['example.com/f'] },
      { conditions: [{ $patch: 'delete', type: 'Ready' }] },
      { addresses: [{ type: 'InternalIP', address: '::1' }, anyValue(chance, 1)] },
    ]),
  )
}
