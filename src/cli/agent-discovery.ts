import type { Command } from 'commander'
import type { DiscoveryOptions } from '../agent/agent-options.ts'
import { RollcallError } from '../errors.ts'
import { parsePin } from '../join/discovery/parse-pin.ts'

export interface DiscoveryFlags {
  discoveryServer?: string
  discoveryTokenFile?: string
  discoveryCaPin: string[]
  discoveryUnsafeWithoutPin: boolean
}

/** The options of kubeadm's discovery. The token comes in a file: what is on a command line everybody on the machine can read. */
export function discoveryFlags(command: Command): Command {
  return command
    .option('--discovery-server <url>', 'API server whose kube-public/cluster-info leads to the cluster')
    .option('--discovery-token-file <file>', 'bootstrap token id.secret that cluster-info is signed with')
    .option(
      '--discovery-ca-pin <sha256:hex>',
      'what `kubeadm token create --print-join-command` shows as --discovery-token-ca-cert-hash; may be repeated',
      (text: string, before: string[]) => [...before, parsePin(text)],
      [],
    )
    .option('--discovery-unsafe-without-pin', 'believe whoever knows the token', false)
}

/** Throws USAGE. */
export function discoveryOptions(flags: DiscoveryFlags): { discovery?: DiscoveryOptions } {
  const {
    discoveryServer: server,
    discoveryTokenFile: tokenFile,
    discoveryCaPin: pins,
    discoveryUnsafeWithoutPin: unsafe,
  } = flags
  if (server === undefined && tokenFile === undefined && pins.length === 0 && !unsafe) return {}
  if (server === undefined || tokenFile === undefined)
    throw new RollcallError('USAGE', '--discovery-server and --discovery-token-file go together.')
  if (!server.startsWith('https://'))
    throw new RollcallError('USAGE', '--discovery-server: give https://HOST:PORT.')
  if (pins.length === 0 && !unsafe)
    throw new RollcallError(
      'USAGE',
      'without --discovery-ca-pin anybody who holds the token can pass for the cluster; give a pin, or --discovery-unsafe-without-pin.',
    )
  return { discovery: { server, tokenFile, pins } }
}
