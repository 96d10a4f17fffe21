import { DerReader } from './der.ts'
import type { Extension } from './extension.ts'
import { oids } from './oid.ts'

/** Extensions Go takes apart although nothing here needs their content: their DER must hold all the way down. */
const readByGo: ReadonlySet<string> = new Set([
  oids.crlDistributionPoints,
  oids.certificatePolicies,
  oids.policyMappings,
  oids.policyConstraints,
  oids.inhibitAnyPolicy,
  oids.authorityInfoAccess,
])

/** Throws X509_MALFORMED when an extension that Go reads is not one well-formed element. */
export function checkOtherExtension({ id, critical, value }: Extension): void {
  if (!readByGo.has(id)) return
  const reader = new DerReader(value, `extension ${id}`)
  if (critical && id === oids.authorityInfoAccess) throw reader.fail('marked critical')
  checkElement(reader)
  reader.finish()
}

const deepest = 16

function checkElement(reader: DerReader, depth = 0): void {
  const { tag, content, end } = reader.element()
  if (depth > deepest) throw reader.fail('nested too deep', content)
  if ((tag & 0x20) === 0) return
  const inside = new DerReader(reader.bytes, reader.structure, content, end)
  while (!inside.atEnd) checkElement(inside, depth + 1)
}
