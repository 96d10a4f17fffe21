import { InvalidArgumentError } from 'commander'
import { parseIp } from '../x509/ip.ts'

/** A commander parser for an IP address; it goes into a certificate, so a host name will not do. */
export function ipAddress(text: string): string {
  if (!parseIp(text)) throw new InvalidArgumentError('It must be an IP address.')
  return text
}
