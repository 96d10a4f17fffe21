import { type Document, isNode, isScalar, visit } from 'yaml'

/**
 * The first key that a mapping has twice, and where. The parser's own check compares each key with each other: 11 seconds
 * for 20,000 of them, which an inventory may have; so it is given `uniqueKeys: false`, and this is asked.
 */
export function keyTwice(document: Document.Parsed): { key: unknown; offset: number } | undefined {
  let found: { key: unknown; offset: number } | undefined
  visit(document, {
    Map(_key, { items }) {
      const seen = new Set<unknown>()
      for (const { key } of items) {
        const value = isScalar(key) ? key.value : key
        if (seen.has(value)) {
          found = { key: value, offset: (isNode(key) ? key.range?.[0] : undefined) ?? 0 }
          return visit.BREAK
        }
        seen.add(value)
      }
      return undefined
    },
  })
  return found
}
