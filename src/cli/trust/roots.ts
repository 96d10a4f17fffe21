/** Trust roots: Ed25519 keys apart from every CA, and the file that consumers pin. */
import type { Command } from 'commander'
import { hostPorts } from '../../cluster/host-ports.ts'
import { RollcallError, systemCode } from '../../errors.ts'
import { parseKeyReference } from '../../keys/key-reference.ts'
import { openKey } from '../../keys/open-key.ts'
import { generateSigner } from '../../keys/private-key.ts'
import { decodeTrustRoots, encodeTrustRoots, rootKeyId, type TrustRoots } from '../../trust/trust-roots.ts'
import { decodeOnePem, encodePem } from '../../x509/pem.ts'
import type { CommandIo } from '../command-io.ts'
import { keyDoors } from '../key-doors.ts'
import { wholeNumber } from '../number-option.ts'

export function register(trust: Command, io: CommandIo): void {
  const root = trust.command('root').description('make trust roots, the keys that say which CAs are trusted')
  root
    .command('generate')
    .argument('<file>', 'where the private key is written; FILE.pub gets the public one')
    .description(
      'make a trust root key; keep it offline, or make one in a token with `rollcall key generate`',
    )
    .action((path: string) => generate(path, io))
  root
    .command('public')
    .argument('<key>', 'a PEM file, a pkcs11: URI or unix:/path/of/a/signer.sock?key=NAME')
    .description('print the public half of a trust root key')
    .action((reference: string) => show(reference, io))
  trust
    .command('roots')
    .argument('<public...>', 'public keys, PEM files')
    .description('print the file that consumers pin: which trust roots there are, and how many must sign')
    .requiredOption('--cluster <name>', 'which cluster they are for')
    .requiredOption('--threshold <m>', 'how many of them must sign', wholeNumber(1, 16))
    .option('--roots-version <n>', 'rises with each set of roots', wholeNumber(1, 999_999_999), 1)
    .action((paths: string[], flags: RootsFlags) => compose(paths, flags, io))
}

interface RootsFlags {
  cluster: string
  threshold: number
  rootsVersion: number
}

const label = 'PUBLIC KEY'

async function generate(path: string, io: CommandIo): Promise<void> {
  const { disk, random } = hostPorts
  const signer = generateSigner('Ed25519', random)
  await disk.write(path, signer.exportPem().reveal(), { mode: 0o600, exclusive: true, sync: true })
  await disk.write(`${path}.pub`, encodePem(label, signer.publicKey), { mode: 0o644, exclusive: true })
  io.stdout(`${rootKeyId(signer.publicKey)}\n`)
}

async function show(reference: string, io: CommandIo): Promise<void> {
  const key = await openKey(parseKeyReference(reference), keyDoors())
  try {
    io.stdout(encodePem(label, key.signer.publicKey))
  } finally {
    key.close()
  }
}

async function compose(paths: string[], flags: RootsFlags, io: CommandIo): Promise<void> {
  const keys = await Promise.all(paths.map(async path => decodeOnePem(await readFile(path), label)))
  const { cluster, threshold, rootsVersion: version } = flags
  try {
    io.stdout(encodeTrustRoots({ cluster, version, threshold, keys }))
  } catch (cause) {
    if (!(cause instanceof RangeError)) throw cause
    throw new RollcallError('USAGE', `these are no trust roots: ${cause.message}.`, {}, { cause })
  }
}

/** Rejects with USAGE for a file that is not what `trust roots` prints. */
export async function readTrustRoots(path: string): Promise<TrustRoots> {
  const roots = decodeTrustRoots(await readFile(path))
  if (!roots)
    throw new RollcallError('USAGE', `${path} is not what \`rollcall trust roots\` prints.`, { path })
  return roots
}

/** Rejects with USAGE for a file that cannot be read. */
export async function readFile(path: string): Promise<string> {
  try {
    return new TextDecoder().decode(await hostPorts.disk.read(path))
  } catch (cause) {
    const why = systemCode(cause) ?? String(cause)
    throw new RollcallError('USAGE', `${path} cannot be read (${why}).`, { path }, { cause })
  }
}
