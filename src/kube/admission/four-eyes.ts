/** What holds between people who approve requests: nobody his own, and of two never the same one twice. */
import { firstApprovalCondition, fourEyesCondition, heldCondition } from '../held-conditions.ts'
import { signerNames } from '../types.ts'
import { shipped } from './shipped-policy.ts'

const conditionsOf = (object: string) =>
  `!has(${object}.status) || !has(${object}.status.conditions) ? [] : ${object}.status.conditions`
const held = `'${heldCondition}', '${fourEyesCondition}'`
const kubelets = `'${signerNames.kubeletServing}', '${signerNames.kubeletClient}'`

export const fourEyesMessages = {
  stays: `conditions ${heldCondition} and ${fourEyesCondition} are not taken back`,
  own: `a condition ${firstApprovalCondition} bears the name of who writes it`,
  requester: "a kubelet's request is not approved by who made it",
  two: 'it takes two different people to approve this request: rollcall csr approve',
} as const

/** The expiry of a first approval is not among them: admission policies do not know the time. */
export const fourEyes = shipped(
  'rollcall-four-eyes',
  {
    apiGroups: ['certificates.k8s.io'],
    apiVersions: ['v1'],
    operations: ['UPDATE'],
    resources: ['certificatesigningrequests/approval'],
  },
  {
    variables: [
      { name: 'before', expression: conditionsOf('oldObject') },
      { name: 'after', expression: conditionsOf('object') },
      {
        name: 'me',
        // As firstApprovalOpening writes a name that holds a backslash or a quote.
        expression: String.raw`'"' + request.userInfo.username.replace('\\', '\\\\').replace('"', '\\"') + '" until '`,
      },
      {
        name: 'approves',
        expression:
          "variables.after.exists(c, c.type == 'Approved') && !variables.before.exists(c, c.type == 'Approved')",
      },
    ],
    validations: [
      {
        expression: `variables.before.all(c, !(c.type in [${held}]) || variables.after.exists(d, d.type == c.type))`,
        message: fourEyesMessages.stays,
        reason: 'Forbidden',
      },
      {
        expression: `variables.after.all(c, c.type != '${firstApprovalCondition}' || c.message.startsWith(variables.me) || variables.before.exists(d, d.type == c.type && d.message == c.message))`,
        message: fourEyesMessages.own,
        reason: 'Forbidden',
      },
      {
        // Held already or not: who is faster than the approver is stopped too.
        expression: `!variables.approves || !(oldObject.spec.signerName in [${kubelets}]) || !has(oldObject.spec.username) || request.userInfo.username != oldObject.spec.username`,
        message: fourEyesMessages.requester,
        reason: 'Forbidden',
      },
      {
        expression: `!variables.approves || !variables.before.exists(c, c.type == '${fourEyesCondition}') || variables.before.exists(c, c.type == '${firstApprovalCondition}' && !c.message.startsWith(variables.me))`,
        message: fourEyesMessages.two,
        reason: 'Forbidden',
      },
    ],
  },
)
