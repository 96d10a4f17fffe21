import { contextTag, DerReader, tags } from './der.ts'
import type { Extension } from './extension.ts'
import { oids } from './oid.ts'

/** Extensions Go takes apart although nothing here needs their content, and how each must be built. */
const structures: ReadonlyMap<string, (reader: DerReader) => void> = new Map([
  [oids.crlDistributionPoints, reader => eachSequence(reader, () => {})],
  [oids.certificatePolicies, policies],
  [oids.policyMappings, reader => eachSequence(reader, mapping => [mapping.oid(), mapping.oid()])],
  [oids.policyConstraints, policyConstraints],
  [oids.inhibitAnyPolicy, reader => reader.smallInteger()],
  [oids.authorityInfoAccess, reader => eachSequence(reader, access => [access.oid(), access.element()])],
])

/** Throws X509_MALFORMED when an extension that Go reads is not built as RFC 5280 says, all the way down. */
export function checkOtherExtension({ id, critical, value }: Extension): void {
  const check = structures.get(id)
  if (check === undefined) return
  const reader = new DerReader(value, `extension ${id}`)
  if (critical && id === oids.authorityInfoAccess) throw reader.fail('marked critical')
  checkElement(reader)
  reader.finish()
  check(new DerReader(value, `extension ${id}`))
}

function eachSequence(reader: DerReader, check: (inside: DerReader) => void): void {
  const list = reader.enter(tags.sequence)
  while (!list.atEnd) check(list.enter(tags.sequence))
}

function policies(reader: DerReader): void {
  const seen = new Set<string>()
  eachSequence(reader, policy => {
    const id = policy.oid()
    if (seen.has(id)) throw policy.fail(`policy ${id} is there twice`)
    seen.add(id)
  })
}

function policyConstraints(reader: DerReader): void {
  const inside = reader.enter(tags.sequence)
  for (const number of [0, 1]) if (inside.peek() === contextTag(number, false)) inside.element()
  inside.finish()
}

const deepest = 16

/** Whether an element and all below it are strict DER. */
function checkElement(reader: DerReader, depth = 0): void {
  const { tag, content, end } = reader.element()
  if (depth > deepest) throw reader.fail('nested too deep', content)
  if ((tag & 0x20) === 0) return
  const inside = new DerReader(reader.bytes, reader.structure, content, end)
  while (!inside.atEnd) checkElement(inside, depth + 1)
}
