import type { Chance } from './chance.ts'
import { name, word } from './text.ts'

const fields = [
  'metadata.name',
  'metadata.namespace',
  'spec.nodeName',
  'spec.signerName',
  'type',
  'app',
  'status.phase',
]

/** Label and field selectors, most of them nearly right. */
export function selector(chance: Chance): string {
  const terms = chance.some(4, () => {
    const key = chance.maybe(0.8) ? chance.pick(fields) : word(chance)
    const operator = chance.pick(['=', '==', '!=', ' in ', ' notin ', '', '!', '>', '<', '<>'])
    const set = `(${chance.some(4, () => name(chance)).join(',')}${chance.maybe(0.9) ? ')' : ''}`
    if (operator === '!') return `!${key}`
    return key + operator + (operator.includes('in') ? set : chance.maybe(0.8) ? name(chance) : word(chance))
  })
  const text = terms.join(chance.maybe(0.9) ? ',' : chance.pick([' ', ',,', '\\,', '&']))
  return chance.maybe(0.02) ? text.repeat(500) : text
}
