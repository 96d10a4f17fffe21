/** What is wrong with a policy that its schema cannot say. */
import { parseIp } from '../../../x509/ip.ts'
import { isDnsName } from '../../../x509/san.ts'
import { isRestrictedLabel } from '../../restricted-labels.ts'
import type { Path, Problem } from '../../schema-problems.ts'
import type { CertificatePolicySpec, PolicyTerms, Pool } from './spec.ts'

/** Everybody, all nodes, all pods: as a bootstrap credential they would let each ask for any node's first certificate. */
const broadGroups = /^system:(authenticated|unauthenticated|nodes|masters|serviceaccounts(:.*)?)$/

/** Of a spec that fits its schema. Places are relative to the spec. */
export function policyProblems(spec: CertificatePolicySpec): Problem[] {
  const { pools = [] } = spec
  return [
    ...(spec.evidence || spec.preset
      ? []
      : [problem([], 'must say `evidence: NodeStatus`, ProtectedNodeStatus or Inventory, or name a preset')]),
    ...termsProblems(spec, []),
    ...(['allowedRanges', 'serviceRanges', 'podRanges'] as const).flatMap(field =>
      rangeProblems(spec[field], [field]),
    ),
    ...groupProblems(spec.bootstrapGroups, ['bootstrapGroups']),
    ...(spec.clusterDomain === undefined || isDnsName(spec.clusterDomain.toLowerCase())
      ? []
      : [problem(['clusterDomain'], 'must be a DNS name')]),
    ...pools.flatMap((pool, index) => poolProblems(pool, index, pools)),
    ...inventoryProblems(spec),
  ]
}

function poolProblems(pool: Pool, index: number, pools: readonly Pool[]): Problem[] {
  const { name, nodeLabels = {}, inventoryAttributes = {}, bootstrapGroups } = pool
  const path = ['pools', index]
  const selectors = [nodeLabels, inventoryAttributes].flatMap(Object.keys).length
  const first = pools.findIndex(other => other.name === name)
  return [
    ...(first === index ? [] : [problem([...path, 'name'], `Duplicate value: "${name}"`)]),
    ...(selectors > 0 || bootstrapGroups?.length
      ? []
      : [problem(path, `pool "${name}" selects by nothing; the level for all other nodes is \`evidence\``)]),
    ...Object.keys(nodeLabels)
      .filter(label => !isRestrictedLabel(label))
      .map(label =>
        problem(
          [...path, 'nodeLabels', label],
          `pool "${name}" selects by label "${label}", which a node can change; use one under node-restriction.kubernetes.io/`,
        ),
      ),
    ...groupProblems(bootstrapGroups, [...path, 'bootstrapGroups']),
    ...termsProblems(pool, path),
  ]
}

function termsProblems({ sans = {}, lifetime = {} }: PolicyTerms, path: Path): Problem[] {
  const { minSeconds = 0, maxSeconds = Number.POSITIVE_INFINITY } = lifetime
  return [
    ...(sans.dnsNames ?? []).flatMap((name, index) =>
      isNamePattern(name)
        ? []
        : [problem([...path, 'sans', 'dnsNames', index], `"${name}" is neither a name nor *. and a name`)],
    ),
    ...rangeProblems(sans.ipRanges, [...path, 'sans', 'ipRanges']),
    ...(minSeconds <= maxSeconds
      ? []
      : [problem([...path, 'lifetime'], 'minSeconds must not exceed maxSeconds')]),
  ]
}

function inventoryProblems({
  inventory,
  preset,
  pools = [],
  evidence,
  evidenceFrom = [],
  bootstrap,
}: CertificatePolicySpec): Problem[] {
  if (!inventory) {
    if (evidenceFrom.length > 0) return []
    const wants = [{ evidence }, ...pools].some(terms => terms.evidence === 'Inventory')
    const reads = wants || bootstrap === 'Inventory' || pools.some(pool => pool.inventoryAttributes)
    if (preset === 'inventory' || !reads) return []
    return [
      problem(
        [],
        'evidence Inventory, bootstrap Inventory and inventoryAttributes need `inventory` to say where it is, or `evidenceFrom`',
      ),
    ]
  }
  const { configMap, secret, file } = inventory
  const path = ['inventory']
  if ([configMap, secret, file].filter(place => place !== undefined).length !== 1)
    return [problem(path, 'inventory must be exactly one of configMap, secret and file')]
  const object = configMap ?? secret
  return object === undefined || /^[^/]+\/[^/]+$/.test(object)
    ? []
    : [problem(path, `inventory "${object}" must be written namespace/name`)]
}

function rangeProblems(ranges: readonly string[] = [], path: Path): Problem[] {
  return ranges.flatMap((range, index) =>
    isRange(range)
      ? []
      : [problem([...path, index], `"${range}" is no range; write it as 10.0.0.0/8 or fd00::/8`)],
  )
}

function isRange(text: string): boolean {
  const [host = '', length = '', ...rest] = text.split('/')
  const bits = /^\d{1,3}$/.test(length) ? Number(length) : Number.NaN
  return parseIp(host) !== undefined && rest.length === 0 && bits <= (host.includes(':') ? 128 : 32)
}

function groupProblems(groups: readonly string[] = [], path: Path): Problem[] {
  return groups.flatMap((group, index) =>
    broadGroups.test(group)
      ? [
          problem(
            [...path, index],
            `${group} is no bootstrap credential: everybody in it could ask as any node`,
          ),
        ]
      : [],
  )
}

/** No expression: whoever writes a policy shall not choose how long it takes to judge a request. */
function isNamePattern(pattern: string): boolean {
  const name = pattern.replace(/^\*\./, '').toLowerCase()
  return !name.includes('*') && isDnsName(name)
}

const problem = (path: Path, text: string): Problem => ({ path, text })
