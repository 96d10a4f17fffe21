import { type Command, InvalidArgumentError } from 'commander'
import type { AttestOptions } from '../agent/agent-options.ts'
import { RollcallError } from '../errors.ts'
import { parseKeyReference } from '../keys/key-reference.ts'

export interface AttestFlags {
  attest?: AttestOptions
  attestServer?: string
}

/** The options by which a machine proves itself. */
export function attestFlags(command: Command): Command {
  return command
    .option(
      '--attest <key>',
      'join by proving this machine: tpm:/dev/tpmrm0, or its registered key (a PEM file, pkcs11: or unix:); the bootstrap kubeconfig need then only name the API',
      parseAttest,
    )
    .option('--attest-server <url>', 'where the proof is taken, when not at the API server')
}

/** Throws USAGE. */
export function attestOptions({ attest, attestServer: server }: AttestFlags): { attest?: AttestOptions } {
  if (attest && server !== undefined && !server.startsWith('https://'))
    throw new RollcallError('USAGE', '--attest-server: give https://HOST:PORT.')
  if (attest) return { attest: { ...attest, ...(server !== undefined && { server }) } }
  if (server === undefined) return {}
  throw new RollcallError('USAGE', '--attest-server says where, --attest says by what: give both.')
}

function parseAttest(text: string): AttestOptions {
  if (!text.startsWith('tpm:')) return { key: parseKeyReference(text) }
  const place = text.slice('tpm:'.length)
  if (!/^(\/|unix:\/|tcp:.+:\d+$)/.test(place))
    throw new InvalidArgumentError('Give tpm:/dev/tpmrm0, tpm:unix:/path/of/socket or tpm:tcp:HOST:PORT.')
  return { tpm: place }
}
