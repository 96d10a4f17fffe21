import { posix } from 'node:path'
import { RollcallError, systemCode } from '../errors.ts'
import { Secret } from '../keys/secret.ts'
import type { Clock, Disk, Log } from '../ports.ts'
import { type KeyPair, parseKeyPair, serializeKeyPair } from './key-pair.ts'
import { isPairFile, pairFileName } from './pair-file-name.ts'

export interface StoredPair extends KeyPair {
  /** Path of the file that holds it. */
  path: string
}

/**
 * The pairs of one kind (`kubelet-client`, `kubelet-server`) in the layout of the kubelet (K-11, K-12): `PREFIX-current.pem`
 * is a symlink to a file with a time in its name that holds the certificates, leaf first, and then the key, mode 0600.
 */
export interface CertificateStore {
  /** Path of `PREFIX-current.pem`, what a kubeconfig refers to. */
  readonly currentPath: string
  /**
   * The pair in force, repaired where a crash or a broken file left none: the newest usable earlier one then becomes
   * current. undefined when there is no usable pair. Rejects only when the folder cannot be read.
   */
  load(): Promise<StoredPair | undefined>
  /**
   * Makes the pair current. When it resolves, the pair is on the disk; until then, and whenever it rejects, the previous
   * one stays current (KEY_MISMATCH, X509_MALFORMED, or the disk's own error).
   */
  update(chain: string, key: Secret): Promise<StoredPair>
  /** The keys of all pairs kept; undefined: a file cannot be read now, so there may be more. */
  keys(): Promise<readonly Secret[] | undefined>
}

export interface CertificateStoreOptions {
  disk: Disk
  clock: Clock
  log: Log
  /** Created with mode 0755 when missing (K-12). */
  directory: string
  prefix: string
}

/** Opens a store; nothing is touched until the first call. */
export function createCertificateStore(options: CertificateStoreOptions): CertificateStore {
  const { disk, clock, log, directory, prefix } = options
  const at = (name: string) => posix.join(directory, name)
  const currentPath = at(`${prefix}-current.pem`)
  const updatedPath = at(`${prefix}-updated.pem`)

  async function readPair(path: string): Promise<StoredPair> {
    const text = new TextDecoder().decode(await disk.read(path))
    return { ...parseKeyPair(new Secret(text)), path }
  }

  /** The pair that `current` shows; undefined when it is missing or unusable (which is logged). */
  async function readCurrent(): Promise<StoredPair | undefined> {
    try {
      const { kind } = await disk.stat(currentPath)
      if (kind !== 'symlink') return await adopt()
      const target = await disk.readlink(currentPath)
      return await readPair(posix.isAbsolute(target) ? target : at(target))
    } catch (error) {
      if (systemCode(error) !== 'ENOENT') warnUnusable(currentPath, error)
      return undefined
    }
  }

  /** K-13 refuses a `current` that is a regular file (a copy or a backup made it one); ours keeps its pair in a file of its own. */
  async function adopt(): Promise<StoredPair> {
    const { chain, key } = await readPair(currentPath)
    return await update(chain, key)
  }

  async function pairFiles(): Promise<string[]> {
    try {
      return (await disk.list(directory)).filter(name => isPairFile(prefix, name))
    } catch (error) {
      if (systemCode(error) === 'ENOENT') return []
      throw error
    }
  }

  /** Usable pairs, newest first: by notBefore, which is the signer's clock, as ours may have jumped between two. */
  async function usablePairs(): Promise<{ usable: StoredPair[]; unreadable: string[] }> {
    const usable: StoredPair[] = []
    const unreadable: string[] = []
    for (const name of await pairFiles()) {
      try {
        usable.push(await readPair(at(name)))
      } catch (error) {
        // What the disk does not give now it may give later; other contents can never be used.
        if (systemCode(error) !== undefined) unreadable.push(name)
        warnUnusable(at(name), error)
      }
    }
    usable.sort((a, b) => b.leaf.notBefore - a.leaf.notBefore || (a.path < b.path ? 1 : -1))
    return { usable, unreadable }
  }

  /** Lets `current` name the file; there is no moment without `current` (K-13 has one). */
  async function switchTo(path: string): Promise<void> {
    await disk.remove(updatedPath)
    // The name alone, not K-13's absolute path: the folder may be moved or mounted elsewhere.
    await disk.symlink(posix.basename(path), updatedPath)
    await disk.rename(updatedPath, currentPath)
    await disk.syncDirectory(directory)
  }

  async function writeNewFile(text: Secret): Promise<string> {
    for (let attempt = 0; ; attempt++) {
      const path = at(pairFileName(prefix, clock.now(), attempt))
      try {
        await disk.write(path, text.reveal(), { mode: 0o600, exclusive: true, sync: true })
        return path
      } catch (error) {
        // K-12 overwrites a file made in the same second; ours takes the next name.
        if (systemCode(error) === 'EEXIST') continue
        // A full disk leaves the file there, empty or cut off, and every retry would leave another one.
        await disk.remove(path).catch(() => undefined) // what matters is why it was not written
        throw error
      }
    }
  }

  async function update(chain: string, key: Secret): Promise<StoredPair> {
    const text = serializeKeyPair(chain, key)
    const pair = parseKeyPair(text)
    await disk.makeDirectory(directory, 0o755)
    const path = await writeNewFile(text)
    await disk.syncDirectory(directory)
    const previous = await linkedName()
    await switchTo(path)
    await prune(path, previous)
    return { ...pair, path }
  }

  /** Name of the file that `current` shows, without looking into it. */
  async function linkedName(): Promise<string | undefined> {
    try {
      return posix.basename(await disk.readlink(currentPath))
    } catch {
      return undefined // missing, or no symlink: nothing to keep but what usablePairs finds
    }
  }

  /**
   * Keeps the current pair and the one before; K-14 keeps all for ever. Without a `previous` that was current, the newest
   * usable other one is kept. A file that cannot be removed does no harm.
   */
  async function prune(current: string, previous: string | undefined): Promise<void> {
    try {
      const name = posix.basename(current)
      const kept = [name, ...(previous === undefined ? await spares(name) : [previous])]
      for (const file of await pairFiles()) if (!kept.includes(file)) await disk.remove(at(file))
      await disk.remove(updatedPath)
    } catch (error) {
      log.warn('old certificate files could not be removed', { directory, prefix, error: String(error) })
    }
  }

  async function spares(current: string): Promise<string[]> {
    const { usable, unreadable } = await usablePairs()
    const newest = usable.map(({ path }) => posix.basename(path)).find(name => name !== current)
    return newest === undefined ? unreadable : [newest, ...unreadable]
  }

  async function load(): Promise<StoredPair | undefined> {
    const current = await readCurrent()
    if (current) {
      await prune(current.path, undefined)
      return current
    }
    const [fallback] = (await usablePairs()).usable
    if (!fallback) return undefined
    log.warn('the current certificate cannot be used; the newest usable earlier one takes its place', {
      code: 'STORE_CORRUPT',
      path: fallback.path,
    })
    await switchTo(fallback.path).catch(error =>
      log.warn('the current certificate could not be repaired on the disk', {
        path: currentPath,
        error: String(error),
      }),
    )
    return fallback
  }

  function warnUnusable(path: string, error: unknown): void {
    const code = error instanceof RollcallError ? error.code : systemCode(error)
    log.warn('a certificate file cannot be used', { path, code, error: String(error) })
  }

  async function keys(): Promise<readonly Secret[] | undefined> {
    const { usable, unreadable } = await usablePairs()
    return unreadable.length > 0 ? undefined : usable.map(({ key }) => key)
  }

  return { currentPath, load, update, keys }
}
