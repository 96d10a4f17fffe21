import type { ReadFacts } from '../facts.ts'
import { contains, parseRange } from '../ip-range.ts'
import { type ApprovalPolicy, defaultClusterDomain } from '../policy.ts'
import { type RequestedSan, requestedSans } from '../requested-sans.ts'
import { deny, type Rule } from '../rule.ts'

/** Addresses that mean something else on every host, so a certificate for them proves nothing. */
const reserved = [
  ['0.0.0.0/8', 'unspecified'],
  ['::/128', 'unspecified'],
  ['127.0.0.0/8', 'loopback'],
  ['::1/128', 'loopback'],
  ['169.254.0.0/16', 'link-local'],
  ['fe80::/10', 'link-local'],
  ['224.0.0.0/4', 'multicast'],
  ['ff00::/8', 'multicast'],
  ['255.255.255.255/32', 'broadcast'],
].map(([text = '', what = '']) => ({ range: parseRange(text), what }))

export const noReservedName: Rule<ReadFacts> = {
  name: 'NoReservedName',
  sentence:
    "No SAN is a wildcard, a name of the cluster itself, a service address or an address that is every host's.",
  only: 'serving',
  check({ request, policy }) {
    for (const san of requestedSans(request)) {
      const why = san.kind === 'DNS' ? reservedDns(san.canonical, policy) : reservedIp(san, policy)
      if (why) return deny('ReservedName', `SAN ${san.shown} is ${why}; a node is never certified for it`)
    }
    return undefined
  },
}

function reservedDns(name: string, policy: ApprovalPolicy | undefined): string | undefined {
  if (name.includes('*')) return 'a wildcard'
  if (name === 'localhost' || name.endsWith('.localhost')) return 'a name of every host'
  const domain = (policy?.clusterDomain ?? defaultClusterDomain).toLowerCase()
  const service = name.endsWith(`.${domain}`) ? name.slice(0, -domain.length - 1) : name
  if (
    service === 'kubernetes' ||
    service === 'kubernetes.default' ||
    service.endsWith('.svc') ||
    service === 'svc'
  )
    return 'the name of a service of the cluster'
  return undefined
}

function reservedIp(
  san: RequestedSan & { kind: 'IP' },
  policy: ApprovalPolicy | undefined,
): string | undefined {
  const within = (range: string) => contains(parseRange(range), san.bytes)
  const service = policy?.serviceRanges?.find(within)
  if (service) return `in the service range ${service}`
  const match = reserved.find(({ range }) => contains(range, san.bytes))
  if (!match || policy?.allowedRanges.some(within)) return undefined
  return `a ${match.what} address`
}
