import { formatName } from '../../x509/name.ts'
import { oids } from '../../x509/oid.ts'
import type { ReadFacts } from '../facts.ts'
import { requesterOf } from '../requester.ts'
import { deny, type Rule } from '../rule.ts'
import { subjectNode } from '../subject-node.ts'

export const nodeSubject: Rule<ReadFacts> = {
  name: 'NodeSubject',
  sentence:
    'The subject is exactly O=system:nodes and CN=system:node:<name>, and that name is the requester.',
  check({ csr, policy, request }) {
    const attributes = request.subject.rdns.flat()
    const shown = formatName(request.subject)
    const organizations = attributes.filter(attribute => attribute.type === oids.organization)
    if (
      attributes.length !== 2 ||
      organizations.length !== 1 ||
      organizations[0]?.value !== 'system:nodes' ||
      !attributes.some(attribute => attribute.type === oids.commonName)
    )
      return deny('SubjectMismatch', `subject "${shown}" is not exactly O=system:nodes and one CN`)
    // C-31 lets an empty node name pass; such a certificate would be a node that nothing confines.
    const nodeName = subjectNode(request)
    if (nodeName === undefined)
      return deny('SubjectMismatch', `subject "${shown}": CN is not system:node: and a valid node name`)
    const requester = requesterOf(csr, policy)
    if (requester.kind === 'node' && requester.nodeName !== nodeName)
      return deny(
        'SubjectMismatch',
        `subject "${shown}" is for node "${nodeName}", but node "${requester.nodeName}" asks`,
      )
    return undefined
  },
}
