import type { ApiResponse } from '../../kube/transport.ts'
import type { Call } from '../call.ts'
import { listOptionsOf } from '../list-options.ts'
import { formOf, respondList } from '../representation.ts'
import { selectionOf } from '../selection.ts'
import type { Stored } from '../storage/store.ts'
import { sharedObject } from '../stored-object.ts'
import { ApiError } from '../wire/api-error.ts'
import { deleteObject, deleteOptionsOf } from './delete.ts'
import { pageOf } from './list.ts'

/** DELETE of a collection: each object that the selectors match; answers with what it was. */
export async function deleteCollection(call: Call): Promise<ApiResponse> {
  const form = formOf(call)
  const options = deleteOptionsOf(call)
  const page = pageOf(call.core.store, selectionOf(call), listOptionsOf(call.query))
  // All at once, so that they share commits.
  const outcomes = await Promise.all(page.items.map(stored => deleteListed(call, stored, options)))
  const deleted = outcomes.filter(stored => stored !== undefined)
  return respondList(call, form, deleted, { resourceVersion: String(call.core.store.revision) })
}

async function deleteListed(
  call: Call,
  stored: Stored,
  options: ReturnType<typeof deleteOptionsOf>,
): Promise<Stored | undefined> {
  const { name, namespace } = sharedObject(stored).metadata
  const own = { ...call, path: { ...call.path, name, namespace: namespace ?? '' } }
  try {
    await deleteObject(own, name, options)
    return stored
  } catch (error) {
    // Somebody else was faster: it is gone, which is what was asked for.
    if (error instanceof ApiError && error.status.reason === 'NotFound') return undefined
    throw error
  }
}
