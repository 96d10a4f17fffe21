import { contextTag, DerReader, tags } from './der.ts'
import { formatIp } from './ip.ts'
import { isDnsName, type SubjectAltName } from './san.ts'
import { isAscii, latin1 } from './strings.ts'

/** Names a CA may or may not sign for (RFC 5280 4.2.1.10). */
interface Subtrees {
  dnsNames: string[]
  /** Address and mask one after the other: 8 or 32 bytes. */
  ipRanges: Uint8Array[]
  /** Tag numbers of other kinds of names. */
  others: Set<number>
}

export interface NameConstraints {
  permitted: Subtrees
  excluded: Subtrees
}

/** Kinds of names that Go compares and Rollcall refuses instead, as nodes have none: e-mail (1) and URI (6). */
const refusedKinds = { email: 1, uri: 6 }

export function parseNameConstraints(value: Uint8Array): NameConstraints {
  const outer = new DerReader(value, 'nameConstraints')
  const inside = outer.enter(tags.sequence)
  outer.finish()
  const constraints = { permitted: readSubtrees(inside, 0), excluded: readSubtrees(inside, 1) }
  inside.finish()
  if (isEmpty(constraints.permitted) && isEmpty(constraints.excluded)) throw outer.fail('no constraint', 0)
  return constraints
}

/** Whether they name a kind that Go cannot handle either: then the extension, where critical, is not understood. */
export function hasUnhandledKinds({ permitted, excluded }: NameConstraints): boolean {
  const handled: readonly number[] = Object.values(refusedKinds)
  return [...permitted.others, ...excluded.others].some(kind => !handled.includes(kind))
}

/** Why a CA with these constraints must not have signed for the names, in Go's words, or undefined. */
export function whyNotPermitted(constraints: NameConstraints, san: SubjectAltName): string | undefined {
  const why =
    san.dnsNames.map(name => whyDnsName(constraints, name)).find(reason => reason !== undefined) ??
    san.ipAddresses.map(address => whyIpAddress(constraints, address)).find(reason => reason !== undefined) ??
    whyRefusedKind(constraints, san)
  const text = 'x509: a root or intermediate certificate is not authorized to sign for this name'
  return why === undefined ? undefined : `${text}: ${why}`
}

function whyDnsName({ permitted, excluded }: NameConstraints, name: string): string | undefined {
  if (permitted.dnsNames.length + excluded.dnsNames.length === 0) return undefined
  const shown = JSON.stringify(name)
  if (!isDnsName(name)) return `cannot parse dnsName ${shown}`
  const excluding = excluded.dnsNames.find(constraint => overlaps(constraint, name))
  if (excluding !== undefined)
    return `DNS name ${shown} is excluded by constraint ${JSON.stringify(excluding)}`
  const allowed =
    permitted.dnsNames.length === 0 || permitted.dnsNames.some(constraint => covers(constraint, name))
  return allowed ? undefined : `DNS name ${shown} is not permitted by any constraint`
}

/** Whether the name lies in the subtree. A leading dot means: below it, not itself. '' is everything. */
function covers(constraint: string, name: string): boolean {
  const tree = constraint.toLowerCase()
  if (tree === '') return true
  const host = name.toLowerCase()
  return tree.startsWith('.') ? host.endsWith(tree) : host === tree || host.endsWith(`.${tree}`)
}

/** Whether the name could stand for a host in the subtree: a wildcard above the subtree does. */
function overlaps(constraint: string, name: string): boolean {
  const wildcardOver = name.startsWith('*.') && covers(name.slice(2), constraint.replace(/^\./, ''))
  return covers(constraint, name) || wildcardOver
}

function whyIpAddress({ permitted, excluded }: NameConstraints, address: Uint8Array): string | undefined {
  const inside = (range: Uint8Array) => isInRange(address, range)
  if (excluded.ipRanges.some(inside)) return `IP address ${formatIp(address)} is excluded by a constraint`
  const allowed = permitted.ipRanges.length === 0 || permitted.ipRanges.some(inside)
  return allowed ? undefined : `IP address ${formatIp(address)} is not permitted by any constraint`
}

function isInRange(address: Uint8Array, range: Uint8Array): boolean {
  const size = range.length / 2
  return (
    size === address.length &&
    address.every((byte, i) => ((byte ^ (range[i] ?? 0)) & (range[size + i] ?? 0)) === 0)
  )
}

function whyRefusedKind({ permitted, excluded }: NameConstraints, san: SubjectAltName): string | undefined {
  const constrained = (kind: number) => permitted.others.has(kind) || excluded.others.has(kind)
  const refused =
    (san.emailAddresses.length > 0 && constrained(refusedKinds.email)) ||
    (san.uris.length > 0 && constrained(refusedKinds.uri))
  return refused ? 'constraints on e-mail addresses and URIs are not supported' : undefined
}

function readSubtrees(reader: DerReader, tag: number): Subtrees {
  const subtrees: Subtrees = { dnsNames: [], ipRanges: [], others: new Set() }
  if (reader.peek() !== contextTag(tag, true)) return subtrees
  const list = reader.enter(contextTag(tag, true))
  while (!list.atEnd) {
    const subtree = list.enter(tags.sequence)
    readBase(subtree, subtrees)
    subtree.finish()
  }
  return subtrees
}

function readBase(reader: DerReader, subtrees: Subtrees): void {
  const { tag, content, end } = reader.element()
  const bytes = reader.bytes.subarray(content, end)
  if (tag === contextTag(2, false)) {
    const name = latin1(bytes)
    const domain = name.replace(/^\./, '')
    if (!isAscii(bytes) || (domain !== '' && !isDnsName(domain)))
      throw reader.fail('invalid dnsName', content)
    subtrees.dnsNames.push(name)
  } else if (tag === contextTag(7, false)) {
    const mask = bytes.subarray(bytes.length / 2)
    if ((bytes.length !== 8 && bytes.length !== 32) || !isPrefixMask(mask)) {
      throw reader.fail('invalid iPAddress range', content)
    }
    subtrees.ipRanges.push(bytes)
  } else {
    subtrees.others.add(tag & 0x1f)
  }
}

/** Ones first, then zeros only. */
function isPrefixMask(mask: Uint8Array): boolean {
  return /^1*0*$/.test(Array.from(mask, byte => byte.toString(2).padStart(8, '0')).join(''))
}

function isEmpty({ dnsNames, ipRanges, others }: Subtrees): boolean {
  return dnsNames.length + ipRanges.length + others.size === 0
}
