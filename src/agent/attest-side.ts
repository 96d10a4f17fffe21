import { RollcallError } from '../errors.ts'
import { attestSource } from '../join/attest-source.ts'
import type { CredentialSource } from '../join/credential-sources.ts'
import { type Attestor, keyAttestor, tpmAttestor } from '../keys/attestation/attestor.ts'
import type { KeyReference } from '../keys/key-reference.ts'
import { openKey } from '../keys/open-key.ts'
import type { ConnectionConfig } from '../kube/transport.ts'
import type { AgentOptions, AgentPorts, AttestOptions } from './agent-options.ts'

/** The source of the options' attestation, where there is one. */
export function attestSources(
  { attest }: Pick<AgentOptions, 'attest'>,
  ports: AgentPorts,
  endpoint: () => Promise<ConnectionConfig | undefined>,
): CredentialSource[] {
  if (!attest) return []
  return [
    attestSource({
      ...ports,
      attestor: attestorOf(attest, ports),
      endpoint,
      ...(attest.server !== undefined && { attestation: attest.server }),
    }),
  ]
}

function attestorOf(attest: AttestOptions, ports: AgentPorts): Attestor {
  const { openTpm, clock } = ports
  if ('key' in attest) return keyAttestor(`the key in ${placeOf(attest.key)}`, () => open(attest.key, ports))
  if (!openTpm) throw new RollcallError('TPM_ABSENT', 'this program cannot open a TPM.')
  return tpmAttestor(attest.tpm, openTpm, clock)
}

function open(key: KeyReference, { disk, net, clock, token, spawn }: AgentPorts) {
  if (!net || !token)
    throw new RollcallError('USAGE', 'this program cannot open keys of tokens and other programs.')
  const owners = spawn === undefined ? [] : [spawn.user]
  return openKey(key, { disk, net, clock, load: token.load, owners })
}

function placeOf(key: KeyReference): string {
  if (key.kind === 'file') return `the file ${key.path}`
  return key.kind === 'remote' ? `the socket ${key.socket}` : `token "${key.uri.token ?? ''}"`
}
