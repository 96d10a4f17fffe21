import { test } from 'node:test'
import { bothGroups, type Case, servingCases } from '../../testing/judged-cases.ts'
import { withSubject } from '../../testing/judged-request.ts'
import { nameOf } from '../../x509/name.ts'

const own = 'system:node:worker-1'
const serviceAccount = {
  username: 'system:serviceaccount:a:b',
  groups: ['system:serviceaccounts', 'system:authenticated'],
}
const bootstrapper = {
  username: 'system:bootstrap:abcdef',
  groups: ['system:bootstrappers', 'system:authenticated'],
}

/** Own name first, the victim's last: Go takes the last one. */
function twoCommonNames() {
  const { rdns } = nameOf({ commonName: own, organizations: ['system:nodes'] })
  const victim = nameOf({ commonName: 'system:node:worker-2', organizations: [] })
  return { asked: { subject: { raw: new Uint8Array(), rdns: [...rdns, ...victim.rdns] } } }
}

/** What no kubelet asks for and a signer may keep. */
function furtherAttribute(type: string) {
  const { rdns } = nameOf({ commonName: own, organizations: ['system:nodes'] })
  return { asked: { subject: { raw: new Uint8Array(), rdns: [...rdns, [{ type, value: 'x' }]] } } }
}

const cases: Case[] = [
  ['an OU beside O and CN', furtherAttribute('2.5.4.11'), 'Deny', 'SubjectMismatch'],
  ['a serialNumber beside O and CN', furtherAttribute('2.5.4.5'), 'Deny', 'SubjectMismatch'],
  [
    'B4 the group system:nodes is missing',
    { spec: { groups: ['system:authenticated'] } },
    'Deny',
    'RequesterNotNode',
  ],
  ['B5 a further group', { spec: { groups: [...bothGroups, 'foo-bar'] } }, 'Approve', 'SansProven'],
  [
    'B6 another group instead',
    { spec: { groups: ['system:authenticated', 'system:foo-bar'] } },
    'Deny',
    'RequesterNotNode',
  ],
  ['B7 the name of another node', withSubject('system:node:foobar'), 'Deny', 'SubjectMismatch'],
  ['B8 no prefix in the CN', withSubject('worker-1'), 'Deny', 'SubjectMismatch'],
  ['B11 a wrong O', withSubject(own, ['wrong']), 'Deny', 'SubjectMismatch'],
  ['B12 an O too many', withSubject(own, ['system:nodes', 'extra']), 'Deny', 'SubjectMismatch'],
  ['B12 system:masters too', withSubject(own, ['system:nodes', 'system:masters']), 'Deny', 'SubjectMismatch'],
  ['B13 the same O twice', withSubject(own, ['system:nodes', 'system:nodes']), 'Deny', 'SubjectMismatch'],
  ['B14 two CNs, the own one first', twoCommonNames(), 'Deny', 'SubjectMismatch'],
  ['B17 upper case in the CN', withSubject('system:node:Worker-1'), 'Deny', 'SubjectMismatch'],
  ['B18 spec.extra', { spec: { extra: { k: ['v'] } } }, 'Approve', 'SansProven'],
  ['B19 a ServiceAccount with the CN of a node', { spec: serviceAccount }, 'Deny', 'RequesterNotNode'],
  [
    'a ServiceAccount with a CN of its own',
    { spec: serviceAccount, ...withSubject('b') },
    'Ignore',
    'RequesterNotNode',
  ],
  [
    'a bootstrap identity that wants a serving certificate',
    { spec: bootstrapper },
    'Deny',
    'RequesterNotNode',
  ],
  [
    'a user that is named like a node with nothing after the prefix',
    { spec: { username: 'system:node:' }, ...withSubject('system:node:') },
    'Deny',
    'RequesterNotNode',
  ],
]
for (const [title, run] of servingCases(cases)) test(title, run)
