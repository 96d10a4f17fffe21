import { oids } from '../../x509/oid.ts'
import type { ReadFacts } from '../facts.ts'
import { deny, type Rule } from '../rule.ts'

export const sanOnlyExtension: Rule<ReadFacts> = {
  name: 'SanOnlyExtension',
  sentence: 'The only extension asked for is subjectAltName.',
  check({ request }) {
    const other = request.extensions.find(extension => extension.id !== oids.subjectAltName)
    return (
      other &&
      deny('ForbiddenExtension', `extension ${other.id} is not accepted; usages belong in spec.usages`)
    )
  },
}
