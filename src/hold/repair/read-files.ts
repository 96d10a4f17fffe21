import { posix } from 'node:path'
import { systemCode } from '../../errors.ts'
import { Secret } from '../../keys/secret.ts'
import type { Disk } from '../../ports.ts'
import { type KeyPair, parseKeyPair } from '../key-pair.ts'
import { isPairFile } from '../pair-file-name.ts'

/** A file that should hold a pair; `fault` says why it does not. */
export type PairFile = { path: string; pair: KeyPair } | { path: string; fault: string }

/** One kind of pairs in a certificate directory, as it lies there. */
export interface StoreFiles {
  prefix: string
  currentPath: string
  updatedPath: string
  current:
    | { kind: 'missing' }
    | { kind: 'link'; target: string; read: PairFile }
    | { kind: 'file'; read: PairFile }
  /** What an interrupted switch left (K-13). */
  updated: 'missing' | 'link' | 'file'
  /** Pairs with a time in their name that can be used, newest first by notBefore, which is the signer's clock. */
  usable: readonly { path: string; pair: KeyPair }[]
}

export async function readStore(disk: Disk, directory: string, prefix: string): Promise<StoreFiles> {
  const currentPath = posix.join(directory, `${prefix}-current.pem`)
  const updatedPath = posix.join(directory, `${prefix}-updated.pem`)
  const names = (await listed(disk, directory)).filter(name => isPairFile(prefix, name))
  const read = await Promise.all(names.map(name => readPair(disk, posix.join(directory, name))))
  return {
    prefix,
    currentPath,
    updatedPath,
    current: await readCurrent(disk, currentPath),
    updated: await kindOf(disk, updatedPath),
    usable: read
      .flatMap(file => ('pair' in file ? [file] : []))
      .sort((a, b) => b.pair.leaf.notBefore - a.pair.leaf.notBefore || (a.path < b.path ? 1 : -1)),
  }
}

async function readCurrent(disk: Disk, path: string): Promise<StoreFiles['current']> {
  const kind = await kindOf(disk, path)
  if (kind === 'missing') return { kind }
  if (kind === 'file') return { kind, read: await readPair(disk, path) }
  const target = await disk.readlink(path)
  return { kind, target, read: await readPair(disk, posix.resolve(posix.dirname(path), target)) }
}

export async function kindOf(disk: Disk, path: string): Promise<'missing' | 'link' | 'file'> {
  try {
    return (await disk.stat(path)).kind === 'symlink' ? 'link' : 'file'
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return 'missing'
    throw error
  }
}

async function readPair(disk: Disk, path: string): Promise<PairFile> {
  try {
    return { path, pair: parseKeyPair(new Secret(new TextDecoder().decode(await disk.read(path)))) }
  } catch (error) {
    const why = systemCode(error) ?? (error instanceof Error ? error.message : String(error))
    return { path, fault: why === 'ENOENT' ? 'is not there' : why.replace(/\.$/, '') }
  }
}

async function listed(disk: Disk, directory: string): Promise<string[]> {
  try {
    return await disk.list(directory)
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return []
    throw error
  }
}
