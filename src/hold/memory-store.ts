import type { CertificateStore, StoredPair } from './certificate-store.ts'
import { parseKeyPair, serializeKeyPair } from './key-pair.ts'

/** A store that forgets when the process ends: where no private key may lie on the disk. */
export function createMemoryStore(): CertificateStore {
  const currentPath = ''
  let current: StoredPair | undefined
  return {
    currentPath,
    load: async () => current,
    async update(chain, key) {
      current = { ...parseKeyPair(serializeKeyPair(chain, key)), path: currentPath }
      return current
    },
    keys: async () => (current ? [current.key] : []),
  }
}
