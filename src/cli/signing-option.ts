import type { Command } from 'commander'
import { RollcallError } from '../errors.ts'
import { type KeyReference, parseKeyReference } from '../keys/key-reference.ts'
import { signerNames } from '../kube/types.ts'
import type { Log } from '../ports.ts'
import type { AuthoritySource } from '../sign/authority.ts'
import { startAuthorityKeeper } from '../sign/authority-keeper.ts'
import { keyDoors } from './key-doors.ts'

/** C-20: each signer by the name that kube-controller-manager's flags have for it. */
const signers = {
  KubeletServing: ['kubelet-serving', signerNames.kubeletServing],
  KubeletClient: ['kubelet-client', signerNames.kubeletClient],
  KubeApiserverClient: ['kube-apiserver-client', signerNames.apiserverClient],
  LegacyUnknown: ['legacy-unknown', signerNames.legacyUnknown],
} as const
type Signer = keyof typeof signers

type Half = 'Cert' | 'Key'
/** `signingCert`, `signingKey`, and the same for one signer: `signingKubeletServingCert` … */
export type SigningFlags = Partial<Record<`signing${Signer | ''}${Half}`, string>>

const keyForms = 'a PEM file, a pkcs11: URI or unix:/path/of/a/signer.sock?key=NAME'

export function addSigningOptions(command: Command): Command {
  command
    .option('--signing-cert <file>', "the signers' CA certificate, PEM; without it nothing is signed")
    .option('--signing-key <key>', `its key: ${keyForms}`)
  for (const [flag] of Object.values(signers)) {
    command.option(`--signing-${flag}-cert <file>`, `CA certificate of the signer ${flag} alone`)
    command.option(`--signing-${flag}-key <key>`, 'its key')
  }
  return command
}

export interface SigningPair {
  /** Path. */
  certificate: string
  key: KeyReference
}

/** The pair of each signerName; of several with the same, one object. Throws USAGE or KEY_URI_INVALID. */
export function signingPairs(flags: SigningFlags): Partial<Record<string, SigningPair>> {
  const all = pairOf(flags, '')
  const own = (Object.keys(signers) as Signer[]).flatMap(signer => {
    const pair = pairOf(flags, signer)
    return pair ? [[signers[signer][1], pair] as const] : []
  })
  if (!all) return Object.fromEntries(own)
  // C-20: as kube-controller-manager, which also refuses to guess.
  if (own.length > 0)
    throw usage(
      'cannot specify --signing-{cert,key} and other --signing-*-{cert,key} flags at the same time.',
    )
  return Object.fromEntries(Object.values(signers).map(([, signerName]) => [signerName, all]))
}

/** C-20: half a pair is refused in kube-controller-manager's words. */
function pairOf(flags: SigningFlags, signer: Signer | ''): SigningPair | undefined {
  const certificate = flags[`signing${signer}Cert`]
  const key = flags[`signing${signer}Key`]
  const flag = `--signing-${signer === '' ? '' : `${signers[signer][0]}-`}`
  if (certificate === undefined && key === undefined) return undefined
  if (certificate === undefined) throw usage(`cannot specify key without cert: give ${flag}cert too.`)
  if (key === undefined) throw usage(`cannot specify cert without key: give ${flag}key too.`)
  return { certificate, key: parseKeyReference(key) }
}

const usage = (text: string) => new RollcallError('USAGE', text)

export interface OpenSigners {
  /** By signerName. */
  sources: Record<string, AuthoritySource>
  stop(): void
}

/** Opens each pair once and keeps it loaded. Rejects as `startAuthorityKeeper`, with nothing left open. */
export async function openSigners(
  pairs: Partial<Record<string, SigningPair>>,
  { log, certificateLifetimeSeconds }: { log: Log; certificateLifetimeSeconds: number },
): Promise<OpenSigners> {
  const doors = { ...keyDoors(), log, certificateLifetimeSeconds }
  const keepers = new Map<SigningPair, Awaited<ReturnType<typeof startAuthorityKeeper>>>()
  const stop = () => {
    for (const keeper of keepers.values()) keeper.stop()
  }
  try {
    const sources: Record<string, AuthoritySource> = {}
    for (const [signerName, pair] of Object.entries(pairs)) {
      if (!pair) continue
      const keeper = keepers.get(pair) ?? (await startAuthorityKeeper({ ...doors, ...pair }))
      keepers.set(pair, keeper)
      sources[signerName] = keeper
    }
    return { sources, stop }
  } catch (error) {
    stop()
    throw error
  }
}
