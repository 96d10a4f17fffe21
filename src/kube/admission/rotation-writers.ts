/** Who may write a CARotation, and in whose name: he who holds the right to sign with that CA, and in his own. */
import { caRotation } from '../rollcall/ca-rotation.ts'
import type { TrustRole } from '../rollcall/trust-bundle.ts'
import { signerNames } from '../types.ts'
import { shipped } from './shipped-policy.ts'

/** The signers whose leaves a CA of the role signs. That of the API server has none in Kubernetes. */
export const roleSigners: Readonly<Record<TrustRole, readonly string[]>> = {
  'apiserver-serving': ['rollcall.dev/apiserver-serving'],
  client: [signerNames.kubeletClient, signerNames.apiserverClient],
  'kubelet-serving': [signerNames.kubeletServing],
}

/** What the embedded API presents, trusts and signs with, where its rotations write it. */
export const rolloverState = { name: 'rollcall-apiserver', namespace: 'kube-system' }

/** Lists of statements in spec; the author makes none of those in which others vouch for his plan. */
export const statementLists = ['approvals', 'exclusions', 'acknowledgements'] as const
export const notByAuthor = ['approvals', 'acknowledgements'] as const

export const rotationMessages = {
  right:
    'user not permitted to write a rotation of this role: needs verb sign on its signers (certificates.k8s.io)',
  author: 'spec.author is the user who creates the rotation',
  fixed: 'spec.role, spec.from, spec.to, spec.reason and spec.author do not change',
  own: 'approvals, exclusions, acknowledgements and the confirmation bear the name of who makes them',
  others: 'the author of a rotation neither approves it nor acknowledges a consumer',
} as const

const maySign = (name: string) =>
  [name, `${name.split('/')[0]}/*`]
    .map(
      signer =>
        `authorizer.group('certificates.k8s.io').resource('signers').name('${signer}').check('sign').allowed()`,
    )
    .join(' || ')

const same = (fields: readonly string[]) =>
  fields.map(field => `object.spec.${field} == oldObject.spec.${field}`).join(' && ')
const me = 'request.userInfo.username'
const isOwn = (list: string) =>
  `!has(object.spec.${list}) || object.spec.${list}.all(s, s.by == ${me} || (request.operation == 'UPDATE' && has(oldObject.spec.${list}) && oldObject.spec.${list}.exists(o, o == s)))`
const byOthers = (list: string) =>
  `!has(object.spec.${list}) || object.spec.${list}.all(s, s.by != object.spec.author)`
const ownConfirmation = `!has(object.spec.confirmation) || object.spec.confirmation.by == ${me} || (request.operation == 'UPDATE' && has(oldObject.spec.confirmation) && oldObject.spec.confirmation == object.spec.confirmation)`
const all = (expressions: readonly string[]) =>
  `variables.deletes || (${expressions.map(one => `(${one})`).join(' && ')})`

export const rotationWriters = shipped(
  'rollcall-ca-rotation-writers',
  {
    apiGroups: [caRotation.ref.group],
    apiVersions: ['*'],
    operations: ['CREATE', 'UPDATE', 'DELETE'],
    resources: [caRotation.ref.plural],
  },
  {
    variables: [
      { name: 'deletes', expression: "request.operation == 'DELETE'" },
      { name: 'role', expression: 'variables.deletes ? oldObject.spec.role : object.spec.role' },
    ],
    validations: [
      ...Object.entries(roleSigners).map(([role, signers]) => ({
        expression: `variables.role != '${role}' || ${signers.map(name => `(${maySign(name)})`).join(' && ')}`,
        message: rotationMessages.right,
        reason: 'Forbidden',
      })),
      {
        expression: `request.operation != 'CREATE' || object.spec.author == ${me}`,
        message: rotationMessages.author,
        reason: 'Forbidden',
      },
      {
        expression: `request.operation != 'UPDATE' || (${same(['role', 'from', 'to', 'reason', 'author'])})`,
        message: rotationMessages.fixed,
        reason: 'Forbidden',
      },
      {
        expression: all([...statementLists.map(isOwn), ownConfirmation]),
        message: rotationMessages.own,
        reason: 'Forbidden',
      },
      { expression: all(notByAuthor.map(byOthers)), message: rotationMessages.others, reason: 'Forbidden' },
    ],
  },
)
