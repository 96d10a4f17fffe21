import { createPublicKey } from 'node:crypto'
import type { Command } from 'commander'
import { hostPorts } from '../../cluster/host-ports.ts'
import { RollcallError, systemCode } from '../../errors.ts'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import {
  type IdentityKey,
  type NodeIdentityObject,
  nodeIdentities,
} from '../../kube/rollcall/node-identity.ts'
import { sha256Hex } from '../../x509/fingerprint.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { withApi } from '../with-api.ts'

interface ApproveFlags extends ConnectionFlags {
  key?: string
  publicKey?: string
  hardware: boolean
}

export function register(identity: Command, io: CommandIo): void {
  const command = identity
    .command('approve')
    .argument('<node>', 'name of the node')
    .description('let the machine join that asked under this name, or register one that has not asked yet')
    .option('--key <sha256>', 'approve only if this is its key, e.g. of a TPM as the vendor lists it')
    .option('--public-key <file>', 'register this key (PEM, SubjectPublicKeyInfo) for the node')
    .option('--hardware', 'with --public-key: the key cannot leave its hardware', false)
  addConnectionOptions(command).action(async (node: string, flags: ApproveFlags) => {
    const registered =
      flags.publicKey === undefined ? undefined : await readKey(flags.publicKey, flags.hardware)
    await withApi(io, flags, async ({ client }) => {
      const approved = await approve(client, node, registered, flags.key?.toLowerCase())
      io.stdout(`approved ${node}: ${approved.type} ${approved.sha256}\n`)
    })
  })
}

/** Throws ATTESTATION_REFUSED when the identity is another one than is meant. */
async function approve(
  client: KubeClient,
  name: string,
  registered: IdentityKey | undefined,
  expected: string | undefined,
): Promise<IdentityKey> {
  const identity = await client.get<NodeIdentityObject>(nodeIdentities, { name }).catch(error => {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  })
  const key = identity?.spec.key ?? registered
  if (!key)
    throw new RollcallError(
      'ATTESTATION_REFUSED',
      `no machine has asked to be node "${name}"; see rollcall identity ls.`,
    )
  const wanted = expected ?? registered?.sha256
  if (wanted !== undefined && key.sha256 !== wanted)
    throw new RollcallError(
      'ATTESTATION_REFUSED',
      `the machine that asked to be node "${name}" has another key: ${key.sha256}; delete its NodeIdentity if it is not yours.`,
    )
  const spec = { state: 'Approved' as const, key }
  if (identity) await client.update(nodeIdentities, { ...identity, spec })
  else
    await client.create(nodeIdentities, {
      apiVersion: `${nodeIdentities.group}/${nodeIdentities.version}`,
      kind: nodeIdentities.kind,
      metadata: { name },
      spec,
    } as NodeIdentityObject)
  return key
}

/** Throws USAGE. */
async function readKey(path: string, hardware: boolean): Promise<IdentityKey> {
  try {
    const pem = new TextDecoder().decode(await hostPorts.disk.read(path))
    const spki = createPublicKey(pem).export({ format: 'der', type: 'spki' })
    return { type: 'PublicKey', sha256: sha256Hex(spki), ...(hardware && { hardware }) }
  } catch (cause) {
    const why = systemCode(cause) ?? 'it is no public key in PEM'
    throw new RollcallError('USAGE', `--public-key: ${path} cannot be used (${why}).`, { path })
  }
}
