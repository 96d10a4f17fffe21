import type { Store } from './store.ts'

/** The store, and why its last write was refused by the disk; undefined when it was not. */
export function observeWrites(store: Store): { store: Store; failure(): string | undefined } {
  let failure: string | undefined
  return {
    failure: () => failure,
    store: {
      get revision() {
        return store.revision
      },
      get: key => store.get(key),
      list: (prefix, options) => store.list(prefix, options),
      watch: (prefix, after, listener) => store.watch(prefix, after, listener),
      compact: revision => store.compact(revision),
      close: () => store.close(),
      async write(write) {
        try {
          const result = await store.write(write)
          failure = undefined
          return result
        } catch (error) {
          failure = error instanceof Error ? error.message : String(error)
          throw error
        }
      },
    },
  }
}
