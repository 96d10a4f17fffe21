import type { ApiResponse } from '../../kube/transport.ts'
import type { KubeList } from '../../kube/types.ts'
import type { Call } from '../call.ts'
import { type ContinueToken, decodeContinue, encodeContinue } from '../continue-token.ts'
import { type ListOptions, listOptionsOf, tooLargeResourceVersion } from '../list-options.ts'
import { formOf, respondList } from '../representation.ts'
import { type Selection, selectionOf } from '../selection.ts'
import { CompactedError, type ListPage, type Store, type Stored } from '../storage/store.ts'
import { type ApiError, apiError } from '../wire/api-error.ts'

/** GET of a collection (W-6): consistent pages, older states while they are kept, selectors. */
export function list(call: Call): ApiResponse {
  const form = formOf(call)
  const selection = selectionOf(call)
  const options = listOptionsOf(call.query)
  const page = pageOf(call.core.store, selection, options)
  const listMeta: KubeList['metadata'] = { resourceVersion: String(page.revision) }
  const last = page.items.at(-1)
  if (page.more && last) {
    listMeta.continue = encodeContinue({
      revision: page.revision,
      after: last.key.slice(selection.prefix.length),
    })
    // With a selector nobody knows how many of the rest match.
    if (!selection.matches) listMeta.remainingItemCount = page.remaining
  }
  return respondList(call, form, page.items, listMeta)
}

interface Page extends ListPage {
  more: boolean
}

/** Throws ApiError 410 or 504 when the state asked for is not there. */
export function pageOf(store: Store, selection: Selection, options: ListOptions): Page {
  const token = options.continue ? decodeContinue(options.continue) : undefined
  const { state } = options
  if (state.kind !== 'latest' && state.revision > store.revision)
    throw tooLargeResourceVersion(state.revision, store.revision)
  const revision = token?.revision ?? (state.kind === 'exact' ? state.revision : -1)
  try {
    return collect(store, selection, options.limit, token?.after, revision)
  } catch (error) {
    if (error instanceof CompactedError) throw token ? expiredToken(token) : expiredVersion()
    throw error
  }
}

function collect(
  store: Store,
  { prefix, key, matches }: Selection,
  limit: number | undefined,
  after: string | undefined,
  revision: number,
): Page {
  const at = revision > 0 ? { revision } : {}
  if (key !== undefined) {
    const stored = revision > 0 ? store.list(key, { limit: 1, ...at }).items[0] : store.get(key)
    const found = stored?.key === key && (!matches || matches(stored)) ? [stored] : []
    return { items: found, revision: revision > 0 ? revision : store.revision, remaining: 0, more: false }
  }
  const start = after === undefined ? {} : { after: prefix + after }
  if (!matches || limit === undefined) {
    const page = store.list(prefix, { ...start, ...at, ...(limit && { limit }) })
    const items = matches ? page.items.filter(matches) : page.items
    return { ...page, items, more: page.remaining > 0 }
  }
  return collectMatching(store, prefix, matches, limit, { ...start, ...at })
}

/** Reads on until the page is full: a limit counts objects that match. */
function collectMatching(
  store: Store,
  prefix: string,
  matches: (stored: Stored) => boolean,
  limit: number,
  start: { after?: string; revision?: number },
): Page {
  const all = store.list(prefix, start)
  const items: Stored[] = []
  for (const stored of all.items) {
    if (!matches(stored)) continue
    if (items.length === limit) return { items, revision: all.revision, remaining: 0, more: true }
    items.push(stored)
  }
  return { items, revision: all.revision, remaining: 0, more: false }
}

const expiredVersion = () => apiError.expired('The resourceVersion for the provided list is too old.')

/** With a token that goes on with what is there now, for clients that can live with that. */
function expiredToken(token: ContinueToken): ApiError {
  const error = apiError.expired(
    'The provided continue parameter is too old to display a consistent list result. You can start a new list without ' +
      'the continue parameter, or use the continue token in this response to retrieve the remainder of the results. ' +
      'Continuing with the provided token results in an inconsistent list - objects that were created, modified, or ' +
      'deleted between the time the first chunk was returned and now may show up in the list.',
  )
  error.status.metadata.continue = encodeContinue({ revision: -1, after: token.after })
  return error
}
