import { posix } from 'node:path'
import { systemCode } from '../errors.ts'
import type { TrustRole } from '../kube/rollcall/trust-bundle.ts'
import type { Disk, Log } from '../ports.ts'
import type { SignedBundle } from '../trust/accept-bundle.ts'
import { decodeStoredBundle, encodeStoredBundle } from '../trust/stored-bundle.ts'

export interface TrustFilesOptions {
  disk: Disk
  log: Log
  /** Where bundles are kept; made when it is missing. */
  directory: string
}

/** The bundles that a node holds, on its disk: the next start begins with them. */
export class TrustFiles {
  readonly #options: TrustFilesOptions

  constructor(options: TrustFilesOptions) {
    this.#options = options
  }

  /** undefined: there is none, or it cannot be read. */
  async stored(role: TrustRole): Promise<SignedBundle | undefined> {
    const text = await this.read(this.#path(role))
    return text === undefined ? undefined : decodeStoredBundle(text)
  }

  /** Replaces what was there in one step. */
  async store(role: TrustRole, signed: SignedBundle): Promise<void> {
    const { disk, directory } = this.#options
    const path = this.#path(role)
    await disk.makeDirectory(directory, 0o755)
    await disk.write(`${path}.new`, encodeStoredBundle(signed), { mode: 0o644, sync: true })
    await disk.rename(`${path}.new`, path)
    await disk.syncDirectory(directory)
  }

  /** The text of a file; undefined: there is none, or it cannot be read, which is said. */
  async read(path: string): Promise<string | undefined> {
    const { disk, log } = this.#options
    try {
      return new TextDecoder().decode(await disk.read(path))
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return undefined
      log.error('a file of trust cannot be read', { path, error: String(error) })
      return undefined
    }
  }

  #path(role: TrustRole): string {
    return posix.join(this.#options.directory, `${role}.json`)
  }
}
