import { keyMatches, loadSigner } from '../../keys/private-key.ts'
import { type Certificate, parseCertificatesPem } from '../../x509/certificate.ts'
import type { MachineDisk } from './disk.ts'

/** Certificate chain and key in one file, as the kubelet keeps them (K-11). */
export interface HeldPair {
  chain: readonly Certificate[]
  leaf: Certificate
  keyMatches: boolean
}

/** What the file at `path` (or the one its link names) holds; undefined where there is none or it cannot be used. */
export function heldPair(disk: MachineDisk, path: string): HeldPair | undefined {
  try {
    const text = new TextDecoder().decode(disk.read(path))
    const chain = parseCertificatesPem(text)
    const leaf = chain[0]
    return leaf && { chain, leaf, keyMatches: keyMatches(loadSigner(text), leaf) }
  } catch {
    return undefined
  }
}
