/** A meeting of trust roots, with no cluster at hand: what they sign goes to the cluster as a file. */
import { type Command, Option } from 'commander'
import { parseAllDocuments, stringify } from 'yaml'
import { parseGoDuration } from '../../cluster/go-duration.ts'
import { hostPorts } from '../../cluster/host-ports.ts'
import { RollcallError } from '../../errors.ts'
import { parseKeyReference } from '../../keys/key-reference.ts'
import { openKey } from '../../keys/open-key.ts'
import type { Signer } from '../../keys/signer.ts'
import { type TrustBundleObject, type TrustRole, trustRoles } from '../../kube/rollcall/trust-bundle.ts'
import { bundleObject, signedBundleOf } from '../../trust/bundle-object.ts'
import { decodeBundle } from '../../trust/bundle-text.ts'
import { type PlannedBundle, plannedBundles, signBundles, withSignatures } from '../../trust/ceremony.ts'
import { type TrustRoots, whyNotSigned } from '../../trust/trust-roots.ts'
import { parseCertificate, parseCertificatesPem } from '../../x509/certificate.ts'
import { formatName } from '../../x509/name.ts'
import type { CommandIo } from '../command-io.ts'
import { keyDoors } from '../key-doors.ts'
import { wholeNumber } from '../number-option.ts'
import { printable } from '../printable.ts'
import { readFile, readTrustRoots } from './roots.ts'

interface Flags {
  roots: string
  key: string[]
  role?: TrustRole
  ca: string[]
  standbys: number
  after: number
  valid: string
  add?: string
  out: string
}

export function register(trust: Command, io: CommandIo): void {
  const collect = (text: string, before: string[]) => [...before, text]
  trust
    .command('ceremony')
    .description(
      'have trust roots sign, offline, the bundles for this CA and the next: rollovers then need nobody',
    )
    .requiredOption('--roots <file>', 'what `rollcall trust roots` printed')
    .option(
      '--key <key>',
      'a trust root that is here: a PEM file or a pkcs11: URI; may be repeated',
      collect,
      [],
    )
    .addOption(new Option('--role <role>', 'whose CAs').choices(trustRoles))
    .option(
      '--ca <file>',
      'the CA that signs now, then the next ones in their order; may be repeated',
      collect,
      [],
    )
    .option('--standbys <k>', 'how many next CAs are signed for', wholeNumber(0, 16), 1)
    .option(
      '--after <generation>',
      'the last generation that was ever signed',
      wholeNumber(0, 999_999_999),
      0,
    )
    .option('--valid <duration>', 'how long the bundles count', '87600h')
    .option('--add <file>', 'add signatures to what an earlier meeting signed, instead')
    .requiredOption('--out <file>', 'where the TrustBundles are written, for `rollcall trust publish`')
    .action((flags: Flags) => hold(flags, io))
}

async function hold(flags: Flags, io: CommandIo): Promise<void> {
  const roots = await readTrustRoots(flags.roots)
  const planned = flags.add === undefined ? await plan(flags, roots, io) : await signedBefore(flags.add)
  const keys = await Promise.all(flags.key.map(key => openKey(parseKeyReference(key), keyDoors())))
  try {
    const objects = await sign(
      planned,
      keys.map(({ signer }) => signer),
      roots,
    )
    const text = objects.map(object => stringify(object, { lineWidth: 0 })).join('---\n')
    await hostPorts.disk.write(flags.out, text, { mode: 0o644, exclusive: true, sync: true })
    tell(objects, roots, io)
  } finally {
    for (const key of keys) key.close()
  }
}

interface Waiting extends PlannedBundle {
  before?: TrustBundleObject
}

async function plan(flags: Flags, roots: TrustRoots, io: CommandIo): Promise<Waiting[]> {
  const { role, ca: files, standbys } = flags
  if (role === undefined) throw new RollcallError('USAGE', 'give --role: whose CAs these are.')
  if (files.length !== standbys + 1)
    throw new RollcallError(
      'USAGE',
      `give --ca ${standbys + 1} times: the CA that signs now and ${standbys} after it (--standbys).`,
    )
  const authorities = await Promise.all(files.map(oneCertificate))
  const notBefore = Math.floor(io.clock.now() / 1000) * 1000
  return plannedBundles({
    cluster: roots.cluster,
    role,
    lastGeneration: flags.after,
    authorities,
    notBefore,
    notAfter: notBefore + parseGoDuration(flags.valid, '--valid') * 1000,
  })
}

async function oneCertificate(path: string): Promise<Uint8Array> {
  const [certificate, ...more] = parseCertificatesPem(await readFile(path))
  if (!certificate || more.length > 0)
    throw new RollcallError('USAGE', `${path} must hold one certificate: that of one CA.`, { path })
  return certificate.raw
}

async function signedBefore(path: string): Promise<Waiting[]> {
  return (await readBundles(path)).map(object => {
    const { purpose, generation, content } = object.spec
    return { purpose, generation, content, before: object }
  })
}

/** What a ceremony wrote. Rejects with USAGE for another file. */
export async function readBundles(path: string): Promise<TrustBundleObject[]> {
  const objects = parseAllDocuments(await readFile(path)).map(
    document => document.toJS() as TrustBundleObject,
  )
  if (!objects.every(({ spec }) => typeof spec?.content === 'string' && decodeBundle(spec.content)))
    throw new RollcallError('USAGE', `${path} is not what a ceremony wrote.`, { path })
  return objects
}

async function sign(
  planned: readonly Waiting[],
  present: readonly Signer[],
  roots: TrustRoots,
): Promise<TrustBundleObject[]> {
  const signed = await signBundles(planned, present, roots)
  return signed.map((bundle, index) => {
    const before = planned[index]?.before
    const whole = before ? withSignatures(signedBundleOf(before), bundle) : bundle
    return bundleObject(whole, bundle.purpose)
  })
}

/** What was signed, for people to compare with what they meant to sign; exit code 3 where roots are missing still. */
function tell(objects: readonly TrustBundleObject[], roots: TrustRoots, io: CommandIo): void {
  const lines: string[] = []
  let missing = false
  for (const object of objects) {
    const { content, signatures } = signedBundleOf(object)
    const names = decodeBundle(content)?.anchors.map(der => formatName(parseCertificate(der).subject)) ?? []
    const problem = whyNotSigned(content, signatures, roots)
    missing ||= problem !== undefined
    const by = `${signatures.length} of the ${roots.threshold} that must sign${problem ? `: ${problem}` : ''}`
    lines.push(`${object.metadata.name} ${object.spec.purpose}: ${names.sort().join(', ')}; ${by}`)
  }
  io.stdout(lines.map(line => `${printable(line)}\n`).join(''))
  if (missing) io.exitWith(3)
}
