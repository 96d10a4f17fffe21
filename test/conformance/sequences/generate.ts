/** Draws a sequence: who asks for what, in which form, with which version of what it saw before. */
import type { Chance } from '../../fuzz/chance.ts'
import { jsonText } from '../../fuzz/json.ts'
import { changes } from './changes.ts'
import { kinds, type SequenceKind, sentinel } from './kinds.ts'
import { reads } from './reads.ts'
import { reviews } from './reviews.ts'
import type { Sequence, SequenceStep } from './sequence.ts'

/** What a sequence knows while it is drawn. */
export interface Draft {
  chance: Chance
  id: string
  /** Number of the step. */
  at: number
  kind: SequenceKind
  /** URL of the collection. */
  collection: string
  /** Steps before this one that wrote the object of this URL, oldest first. */
  writes: ReadonlyMap<string, readonly number[]>
  /** Steps before this one that listed the collection of this URL. */
  lists: ReadonlyMap<string, readonly number[]>
}

const json = { 'content-type': 'application/json' }

/** 8 to 24 requests between the making of a namespace and the watches that tell what happened in it. */
export function sequenceOf(chance: Chance, id: string): Sequence {
  const namespace = `seq-${id}`
  const home = `/api/v1/namespaces/${namespace}`
  const steps: SequenceStep[] = [
    {
      method: 'POST',
      url: '/api/v1/namespaces',
      headers: json,
      body: JSON.stringify({ apiVersion: 'v1', kind: 'Namespace', metadata: { name: namespace } }),
    },
    { method: 'GET', url: `${home}/configmaps` },
  ]
  const writes = new Map<string, number[]>()
  const lists = new Map<string, number[]>()
  // A few kinds at a time, so that requests meet each other.
  const chosen = [chance.pick(kinds), chance.pick(kinds)]
  for (let left = 8 + chance.below(17); left > 0; left--) {
    const kind = chance.pick(chosen)
    const draft = {
      chance,
      id,
      at: steps.length,
      kind,
      collection: collectionOf(kind, namespace),
      writes,
      lists,
    }
    const drawn = draw(draft)
    note(drawn, steps.length, { writes, lists })
    steps.push(damagedSometimes(chance, drawn))
  }
  for (const kind of new Set(chosen))
    if (kind.namespaced) steps.push(...looks(collectionOf(kind, namespace), steps.length))
  steps.push(
    { method: 'POST', url: `${home}/configmaps`, headers: json, body: JSON.stringify(sentinel) },
    {
      method: 'GET',
      url: `${home}/configmaps?watch=true&resourceVersion=$(rv1)`,
      until: sentinel.metadata.name,
    },
    { method: 'GET', url: `${home}/configmaps` },
    { method: 'DELETE', url: home },
  )
  return { id, steps }
}

/** Pages of two that are looked at; what is more than they hold is not. */
const PAGES = 4

/** The same collection as a whole, in pages, and in both other forms. */
function looks(collection: string, first: number): SequenceStep[] {
  const accept = (as: string) => ({ accept: `application/json;as=${as};v=v1;g=meta.k8s.io` })
  return [
    { method: 'GET', url: collection },
    { method: 'GET', url: collection, headers: accept('Table') },
    { method: 'GET', url: collection, headers: accept('PartialObjectMetadataList') },
    { method: 'GET', url: `${collection}?limit=2` },
    ...Array.from({ length: PAGES - 1 }, (_, page): SequenceStep => {
      const next = `next${first + 3 + page}`
      return { method: 'GET', url: `${collection}?limit=2&continue=$(${next})`, needs: next }
    }),
  ]
}

function collectionOf({ apiVersion, path, namespaced }: SequenceKind, namespace: string): string {
  const root = apiVersion === 'v1' ? '/api/v1' : `/apis/${apiVersion}`
  return namespaced ? `${root}/namespaces/${namespace}/${path}` : `${root}/${path}`
}

function draw(draft: Draft): SequenceStep {
  const what = draft.chance.below(20)
  if (what < 12) return changes(draft)
  if (what < 19) return reads(draft)
  return reviews(draft)
}

function note(
  { method, url }: SequenceStep,
  index: number,
  { writes, lists }: { writes: Map<string, number[]>; lists: Map<string, number[]> },
): void {
  const path = url.split('?')[0] ?? ''
  const to = method === 'GET' ? lists : writes
  to.set(path, [...(to.get(path) ?? []), index])
}

/** One body in thirty is no JSON any more. */
function damagedSometimes(chance: Chance, step: SequenceStep): SequenceStep {
  if (step.body === undefined || !chance.maybe(0.03)) return step
  return { ...step, body: jsonText(chance, JSON.parse(step.body)) }
}
