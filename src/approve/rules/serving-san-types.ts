import { isDnsName } from '../../x509/san.ts'
import { canonicalDns } from '../canonical-name.ts'
import type { ReadFacts } from '../facts.ts'
import { deny, type Rule } from '../rule.ts'

export const servingSanTypes: Rule<ReadFacts> = {
  name: 'ServingSanTypes',
  sentence:
    'A serving certificate names at least one host name or IP address, all well written, and nothing else.',
  only: 'serving',
  check({ request }) {
    const { dnsNames, ipAddresses, emailAddresses, uris, others } = request.subjectAltName
    const [email] = emailAddresses
    if (email !== undefined)
      return deny('ForbiddenSanType', `SAN email ${JSON.stringify(email)} is not accepted`)
    const [uri] = uris
    if (uri !== undefined) return deny('ForbiddenSanType', `SAN URI ${JSON.stringify(uri)} is not accepted`)
    if (others.length > 0)
      return deny('ForbiddenSanType', `SAN types with tags [${others.join(', ')}] are not accepted`)
    if (dnsNames.length + ipAddresses.length === 0)
      return deny(
        'InvalidSan',
        'no DNS or IP SAN: the node has no addresses yet, or the request leaves them out',
      )
    // A wildcard is left to the rule that says so; an IP address as a DNS name never verifies.
    const invalid = dnsNames.toSorted().find(name => !isDnsName(canonicalDns(name)))
    return invalid === undefined
      ? undefined
      : deny('InvalidSan', `SAN DNS ${JSON.stringify(invalid)} is no host name`)
  },
}
