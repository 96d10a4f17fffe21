/** Requests that read: one object, lists with everything that a list may be asked for, in all forms. */
import type { Draft } from './generate.ts'
import type { SequenceStep } from './sequence.ts'

const names = ['a', 'a', 'b', 'b', 'missing']
const forms = ['Table', 'PartialObjectMetadata', 'PartialObjectMetadataList']
const form = (as: string) => ({ accept: `application/json;as=${as};v=v1;g=meta.k8s.io,application/json` })

export function reads(draft: Draft): SequenceStep {
  const { chance, id, kind, collection } = draft
  const headers = chance.maybe(0.25)
    ? { headers: chance.maybe(0.95) ? form(chance.pick(forms)) : { accept: 'text/html' } }
    : {}
  const identity = chance.maybe(0.08)
    ? {
        as: chance.pick([
          { user: 'jane' },
          { user: 'system:node:n', groups: ['system:nodes'] },
          'anonymous' as const,
          { bearer: 'x' },
        ]),
      }
    : {}
  const name = kind.namespaced ? chance.pick(names) : `${id}-${chance.pick(names)}`
  if (chance.maybe(0.45)) return { method: 'GET', url: `${collection}/${name}`, ...headers, ...identity }
  return { method: 'GET', url: collection + listQuery(draft), ...headers, ...identity }
}

const labels = [
  'app',
  '!app',
  'app%3Dx',
  'app!%3Dx',
  'app%20in%20(x,y)',
  'app%20notin%20(x)',
  'app%3Dx,tier',
  'a%3D%3D%3Db',
  'app%3E1',
]

/** A list of a kind without namespaces shows what other sequences made, so it is narrowed to one name. */
function listQuery(draft: Draft): string {
  const { chance, id, kind, lists, collection } = draft
  const parts = kind.namespaced
    ? chance.maybe(0.5)
      ? [`labelSelector=${chance.pick(labels)}`]
      : chance.maybe(0.3)
        ? [
            `fieldSelector=${chance.pick(['metadata.name%3Da', 'metadata.name!%3Da', 'spec.odd%3Dx', 'metadata.namespace%3Dother'])}`,
          ]
        : []
    : [`fieldSelector=metadata.name%3D${id}-${chance.pick(names)}`]
  if (chance.maybe(0.3)) parts.push(`limit=${chance.pick(['1', '2', '500', '0', '-1', 'x'])}`)
  const last = lists.get(collection)?.at(-1)
  if (chance.maybe(0.15) && last !== undefined) parts.push(`continue=$(next${last})`)
  else if (chance.maybe(0.2)) parts.push(`resourceVersion=${chance.pick(['0', `$(rv${last ?? 0})`, 'odd'])}`)
  if (chance.maybe(0.1)) parts.push(`resourceVersionMatch=${chance.pick(['Exact', 'NotOlderThan', 'Odd'])}`)
  return parts.length > 0 ? `?${parts.join('&')}` : ''
}
