import { type Command, Option } from 'commander'
import { parseGoDuration } from '../cluster/go-duration.ts'
import { hostPorts } from '../cluster/host-ports.ts'
import { RollcallError } from '../errors.ts'
import { generateKeyInToken, keyLabels } from '../keys/pkcs11/generate-key.ts'
import { signerInToken } from '../keys/pkcs11/pkcs11-signer.ts'
import { openToken } from '../keys/pkcs11/token.ts'
import { formatPkcs11Uri, parsePkcs11Uri } from '../keys/pkcs11/uri.ts'
import type { KeyAlgorithm } from '../keys/private-key.ts'
import { selfSignedCa } from '../keys/self-signed.ts'
import type { Signer } from '../keys/signer.ts'
import type { CommandIo } from './command-io.ts'
import { keyDoors } from './key-doors.ts'

const algorithms: KeyAlgorithm[] = ['ECDSA-P256', 'ECDSA-P384', 'RSA-2048', 'RSA-3072', 'RSA-4096', 'Ed25519']

interface GenerateFlags {
  algorithm: KeyAlgorithm
  selfSignedCa?: string
  valid: string
  out?: string
}

export function register(key: Command, io: CommandIo): void {
  key
    .command('generate')
    .argument('<uri>', 'pkcs11:token=…;object=…?module-path=…&pin-source=file:…')
    .description('make a key inside a token, never to leave it; prints its URI')
    .addOption(new Option('--algorithm <algorithm>', 'kind of key').choices(algorithms).default('ECDSA-P256'))
    .option('--self-signed-ca <name>', 'also make a CA certificate with this common name')
    .option('--valid <duration>', 'how long that certificate is valid', '87600h')
    .option('--out <file>', 'where that certificate is written')
    .action((uri: string, flags: GenerateFlags) => generate(uri, flags, io))
}

async function generate(text: string, flags: GenerateFlags, io: CommandIo): Promise<void> {
  const uri = parsePkcs11Uri(text)
  const { object } = uri
  if (object === undefined)
    throw new RollcallError('USAGE', 'the URI must name the new key: add ;object=NAME.')
  if ((flags.selfSignedCa === undefined) !== (flags.out === undefined))
    throw new RollcallError('USAGE', '--self-signed-ca and --out go together.')
  const token = openToken({ ...keyDoors(), uri })
  try {
    if ((await keyLabels(token)).includes(object))
      throw new RollcallError('USAGE', `the token holds a key named ${JSON.stringify(object)} already.`)
    const id = await generateKeyInToken(token, object, flags.algorithm)
    if (flags.selfSignedCa !== undefined && flags.out !== undefined)
      await writeCa(await signerInToken(token, { id }), flags.selfSignedCa, flags.out, flags.valid)
    io.stdout(`${formatPkcs11Uri({ ...uri, id })}\n`)
  } finally {
    token.close()
  }
}

async function writeCa(signer: Signer, commonName: string, out: string, valid: string): Promise<void> {
  const { clock, random, disk } = hostPorts
  const now = clock.now()
  const times = { notBefore: now - 5 * 60_000, notAfter: now + parseGoDuration(valid, '--valid') * 1000 }
  const pem = await selfSignedCa({ commonName, signer, random, ...times })
  await disk.write(out, pem, { mode: 0o644, exclusive: true })
}
