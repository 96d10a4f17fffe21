import type { Command } from 'commander'
import { RollcallError } from '../errors.ts'
import { parseKeyReference } from '../keys/key-reference.ts'
import { openKey } from '../keys/open-key.ts'
import { sha256Hex } from '../x509/fingerprint.ts'
import { parsePublicKey } from '../x509/public-key.ts'
import { checkSignature } from '../x509/signature.ts'
import type { CommandIo } from './command-io.ts'
import { keyDoors } from './key-doors.ts'

export function register(key: Command, io: CommandIo): void {
  key
    .command('show')
    .argument('<key>', 'a PEM file, a pkcs11: URI or unix:/path/of/a/signer.sock?key=NAME')
    .description('look whether a key is there and signs; a wrong PIN is tried once')
    .action((reference: string) => show(reference, io))
}

async function show(reference: string, io: CommandIo): Promise<void> {
  const { signer, close } = await openKey(parseKeyReference(reference), keyDoors())
  try {
    const { type } = parsePublicKey(signer.publicKey)
    const tbs = Buffer.from('rollcall key show')
    const signature = await signer.sign(tbs)
    const signed = { tbs, signature, signatureAlgorithm: signer.algorithm }
    if (!checkSignature(signed, { spki: signer.publicKey, keyType: type }).ok)
      throw new RollcallError('X509_BAD_SIGNATURE', 'the key signs, but not with the public key beside it.')
    io.stdout(`${type} sha256:${sha256Hex(signer.publicKey)}\nsigns with ${signer.algorithm}\n`)
  } finally {
    close()
  }
}
