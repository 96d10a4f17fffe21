import { commonNames, formatName, organizations } from '../../x509/name.ts'
import type { ReadFacts } from '../facts.ts'
import { requesterOf } from '../requester.ts'
import { deny, type Rule } from '../rule.ts'
import { subjectNode } from '../subject-node.ts'

export const nodeSubject: Rule<ReadFacts> = {
  name: 'NodeSubject',
  sentence:
    'The subject is exactly O=system:nodes and CN=system:node:<name>, and that name is the requester.',
  check({ csr, policy, request }) {
    const { subject } = request
    const attributes = subject.rdns.reduce((count, rdn) => count + rdn.length, 0)
    const [organization, ...more] = organizations(subject)
    const whole = attributes === 2 && organization === 'system:nodes' && more.length === 0
    if (!whole || commonNames(subject).length !== 1)
      return deny(
        'SubjectMismatch',
        `subject "${formatName(request.subject)}" is not exactly O=system:nodes and one CN`,
      )
    // C-31 lets an empty node name pass; such a certificate would be a node that nothing confines.
    const nodeName = subjectNode(request)
    if (nodeName === undefined)
      return deny(
        'SubjectMismatch',
        `subject "${formatName(request.subject)}": CN is not system:node: and a valid node name`,
      )
    const requester = requesterOf(csr, policy)
    if (requester.kind === 'node' && requester.nodeName !== nodeName)
      return deny(
        'SubjectMismatch',
        `subject "${formatName(request.subject)}" is for node "${nodeName}", but node "${requester.nodeName}" asks`,
      )
    return undefined
  },
}
