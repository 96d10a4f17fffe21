/** Opens what the embedded API trusts and signs with, before it listens: CAs, trust roots, signed bundles, its state. */
import { join } from 'node:path'
import type { ObjectReader } from '../../apiserver/reader.ts'
import { type TrustRole, trustBundle } from '../../kube/rollcall/trust-bundle.ts'
import type { Clock, Disk, Log, Random } from '../../ports.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import type { Pki } from '../pki.ts'
import { CaStore } from './ca-store.ts'
import { EmbeddedTrust } from './embedded-trust.ts'
import { storedState } from './role-state.ts'
import { type KnownBundle, signedBundles } from './signed-bundles.ts'
import { type OpenTrustRoots, openTrustRoots } from './trust-root.ts'

export interface OpenTrustOptions {
  /** `--dir`. */
  root: string
  pki: Pki
  reader: ObjectReader
  /** Addresses that the API is reached at. */
  addresses: readonly string[]
  clock: Clock
  random: Random
  disk: Disk
  log: Log
}

export interface OpenTrust {
  trust: EmbeddedTrust
  cas: CaStore
  roots: OpenTrustRoots
}

export async function openTrust(options: OpenTrustOptions): Promise<OpenTrust> {
  const { root, pki, reader } = options
  const directory = join(root, 'ca')
  const cas = new CaStore({ ...options, directory, first: pki.ca })
  await cas.load()
  const cluster = `rollcall-${sha256Hex(pki.ca.certificate.raw).slice(0, 16)}`
  const roots = await openTrustRoots({ ...options, directory, path: join(root, 'trust-roots'), cluster })
  const bundles = cachedBundles({ reader, roots, cas })
  const stored = () => storedState(reader)
  const trust = new EmbeddedTrust({ ...options, cas, bundles, stored })
  await trust.follow()
  return { trust, cas, roots }
}

/** Signatures are verified again only when some bundle has changed, or a CA has come. */
function cachedBundles(
  parts: Parameters<typeof signedBundles>[1],
): (role: TrustRole) => ReadonlyMap<number, KnownBundle> {
  const known = new Map<TrustRole, { version: string; bundles: ReadonlyMap<number, KnownBundle> }>()
  return role => {
    const version = `${parts.reader.generation(trustBundle.ref)} ${parts.cas.generations(role).length}`
    const cached = known.get(role)
    if (cached?.version === version) return cached.bundles
    const bundles = signedBundles(role, parts)
    known.set(role, { version, bundles })
    return bundles
  }
}
