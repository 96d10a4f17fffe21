/** Opens what `--rollover` names, before anything runs: CAs and their keys, trust roots, the way to the API. */
import { join } from 'node:path'
import { RollcallError } from '../../errors.ts'
import { type KeyDoors, type OpenKey, openKey } from '../../keys/open-key.ts'
import { signerNames } from '../../kube/types.ts'
import { stateFolderProblem } from '../../pods/state/state-folder.ts'
import type { Disk, Log, Random, Spawn } from '../../ports.ts'
import { type AuthoritySource, authorityOf } from '../../sign/authority.ts'
import type { LastingLedger } from '../../sign/ledger.ts'
import { decodeTrustRoots } from '../../trust/trust-roots.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import { CaStore } from '../rollover/ca-store.ts'
import { roleOfSigner } from '../rollover/leaf-holders.ts'
import { type OpenTrustRoots, openTrustRoots } from '../rollover/trust-root.ts'
import type { GenericControl } from './generic-control.ts'
import { GenericTrust } from './generic-trust.ts'
import { type ManagedRole, managedRoles, type RolloverFile } from './rollover-file.ts'
import { textAt } from './sinks.ts'
import { startGenericRollover } from './start-generic-rollover.ts'

export interface GenericRolloverOptions
  extends Pick<GenericControl, 'client' | 'connection' | 'identity' | 'asCanary'> {
  file: RolloverFile
  ledger: LastingLedger
  /** Milliseconds. */
  longestLeaf: number
  doors: KeyDoors
  disk: Disk
  random: Random
  spawn: Pick<Spawn, 'run'>
  log: Log
}

export interface OpenGenericRollover {
  trust: GenericTrust
  /** Of the signers whose CA is a managed one. */
  signers: Readonly<Record<string, AuthoritySource>>
  /** Begins while this process leads. */
  start(): { stop(): Promise<void> }
  /** Gives up keys. */
  close(): void
}

/** Rejects with USAGE, SIGNER_UNUSABLE, KEY_MISMATCH, DIRECTORY_UNUSABLE, or what is wrong with a key; nothing is left open then. */
export async function openGenericRollover(options: GenericRolloverOptions): Promise<OpenGenericRollover> {
  const { file, doors, disk, client } = options
  const keys: OpenKey[] = []
  const close = () => {
    for (const key of keys) key.close()
  }
  try {
    await disk.makeDirectory(file.directory, 0o700)
    const problem = await stateFolderProblem(file.directory, doors.owners[0] ?? 0, disk)
    if (problem !== undefined)
      throw new RollcallError(
        'DIRECTORY_UNUSABLE',
        `--rollover: ${problem}; who can write there could have his own key put in place by a hook.`,
        { path: file.directory },
      )
    const cas: Partial<Record<ManagedRole, CaStore>> = {}
    for (const role of managedRoles) {
      const first = file.authorities[role]
      if (!first) continue
      const key = await openKey(first.key, doors)
      keys.push(key)
      cas[role] = await openCas(first.certificate, key, options)
    }
    const roots = await openRoots(cas, keys, options)
    const trust = new GenericTrust({ client, cas })
    const control: GenericControl = {
      ...options,
      clock: doors.clock,
      cas,
      roots,
      trust,
      async leaves() {
        const found = []
        for await (const leaf of options.ledger.issued) found.push(leaf)
        return found
      },
    }
    // kube-controller-manager signs where kubeadm made the control plane.
    const signsHere = cas.client !== undefined && file.kubeadm === undefined && !file.hooks.signWith
    const names = Object.values(signerNames).filter(name => roleOfSigner(name) === 'client' && signsHere)
    const signers = Object.fromEntries(names.map(name => [name, trust.source('client')]))
    return { trust, signers, start: () => startGenericRollover(control), close }
  } catch (error) {
    close()
    throw error
  }
}

async function openCas(
  certificate: string,
  { signer }: OpenKey,
  { file, disk, random, doors }: GenericRolloverOptions,
): Promise<CaStore> {
  const pem = await textAt(disk, certificate)
  if (pem === undefined) throw usage(`${certificate} is not there`, certificate)
  const first = { pem, ...authorityOf(pem, signer) }
  const cas = new CaStore({ directory: join(file.directory, 'ca'), first, disk, clock: doors.clock, random })
  await cas.load()
  return cas
}

async function openRoots(
  cas: Partial<Record<ManagedRole, CaStore>>,
  keys: OpenKey[],
  { file, disk, random, doors }: GenericRolloverOptions,
): Promise<OpenTrustRoots> {
  const { path, key } = file.trustRoots
  const text = await textAt(disk, path)
  if (key !== undefined || text !== undefined) {
    const roots = text === undefined ? undefined : decodeTrustRoots(text)
    if (!roots) throw usage(`${path} is not what \`rollcall trust roots\` prints`, path)
    const made = await textAt(disk, join(file.directory, 'ca', 'trust-root.key'))
    if (key === undefined && made === undefined) return { roots }
    if (key !== undefined) {
      const opened = await openKey(key, doors)
      keys.push(opened)
      return { roots, signer: opened.signer }
    }
  }
  const [first] = managedRoles.flatMap(role => cas[role]?.authority(role, 1) ?? [])
  const cluster = `rollcall-${sha256Hex(first?.certificate.raw ?? new Uint8Array()).slice(0, 16)}`
  return openTrustRoots({ directory: join(file.directory, 'ca'), path, cluster, disk, random })
}

const usage = (why: string, path: string) => new RollcallError('USAGE', `--rollover: ${why}.`, { path })
