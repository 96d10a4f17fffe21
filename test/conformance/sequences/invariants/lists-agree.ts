import { isDeepStrictEqual } from 'node:util'
import type { Played } from '../play.ts'

interface Item {
  metadata: Record<string, unknown>
}
interface ListBody {
  kind?: string
  items?: Item[]
  rows?: { object: Item }[]
}

/** Of the same collection, whole, as Table, as metadata and in pages (generate.ts, `looks`): all tell the same objects. */
export function listsAgree(played: readonly Played[]): string[] {
  return played.flatMap(({ step }, at) => {
    const [whole, table, metadata, ...pages] = played
      .slice(at, at + 7)
      .map(({ answer }) => answer?.body as ListBody)
    const isLook = played[at + 4]?.step.needs === `next${at + 3}` && played[at + 3]?.step.needs === undefined
    if (!isLook || !whole?.items) return []
    const { items } = whole
    const wrong: string[] = []
    const names = items.map(nameOf)
    const rows = (table?.rows ?? []).map(({ object }) => nameOf(object))
    if (!isDeepStrictEqual(rows, names)) wrong.push(`rows ${rows} of a Table for ${names}`)
    const alone = (metadata?.items ?? []).map(item => item.metadata)
    if (
      !isDeepStrictEqual(
        alone,
        items.map(item => item.metadata),
      )
    )
      wrong.push('metadata alone is another')
    const joined = pages.flatMap(page => page?.items ?? [])
    if (!isDeepStrictEqual(joined, items.slice(0, 8))) wrong.push(`pages ${joined.map(nameOf)} for ${names}`)
    return wrong.map(what => `step ${at} (${step.url}): ${what}`)
  })
}

const nameOf = (item: Item) => item.metadata.name
