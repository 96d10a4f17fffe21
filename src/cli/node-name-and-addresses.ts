import { InvalidArgumentError } from 'commander'
import { RollcallError } from '../errors.ts'
import type { NodeAddress } from '../kube/types.ts'
import { parseIp } from '../x509/ip.ts'

/**
 * A node's name as the kubelet makes it: lower case. One that is empty or no DNS name would give a certificate for
 * somebody else, or for nobody (`system:node:`).
 */
export function parseNodeName(text: string): string {
  const name = text.trim().toLowerCase()
  if (name.length <= 253 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(name))
    return name
  throw new InvalidArgumentError(
    'A Node is named by letters, digits, - and ., at most 253 (the host name, unless you say another).',
  )
}

/** K-76: each address is an InternalIP, in their order, and the name is the Hostname. Throws USAGE. */
export function nodeAddresses(node: string, nodeIp: string | undefined): NodeAddress[] {
  const addresses = (nodeIp ?? '').split(',').filter(Boolean)
  for (const address of addresses) {
    if (!parseIp(address))
      throw new RollcallError('USAGE', `--node-ip: ${JSON.stringify(address)} is no IP address.`)
  }
  return [
    ...addresses.map(address => ({ type: 'InternalIP' as const, address })),
    { type: 'Hostname', address: node },
  ]
}
