import type { CertDirectory, PairFile } from './artifacts/node-artifacts.ts'
import { readBundle } from './certificates.ts'

/** The kubelet's two kinds of pairs by the prefix of their files (K-11). */
const prefixes = { client: 'kubelet-client', serving: 'kubelet-server' } as const

export const currentName = (kind: keyof typeof prefixes) => `${prefixes[kind]}-current.pem`

/** `PREFIX-current.pem`, where there is one. */
export function currentPair({ files }: CertDirectory, kind: keyof typeof prefixes): PairFile | undefined {
  return files.find(({ name }) => name === currentName(kind))
}

/** The leaf that the file holds; undefined where it cannot be read or holds none. */
export function leafOf(file: PairFile | undefined) {
  return file?.certificates === undefined ? undefined : readBundle(file.certificates).certificates[0]
}

/** Both `current` files of the directory that are there. */
export function currentPairs(
  directory: CertDirectory,
): { kind: keyof typeof prefixes; file: PairFile; path: string }[] {
  return (['client', 'serving'] as const).flatMap(kind => {
    const file = currentPair(directory, kind)
    return file ? [{ kind, file, path: `${directory.path}/${file.name}` }] : []
  })
}
