import { csrCondition } from '../../kube/csr-conditions.ts'
import { type Check, view } from '../check.ts'

/** What `kubectl certificate approve` and its like write: a human, not a second approver. */
const humans = ['KubectlApprove', 'OperatorApprove', 'RollcallApprove', '']

export const z06: Check = {
  meta: {
    id: 'Z06',
    severity: 'warning',
    title: 'One approver decides for each signer',
    failureTitle: 'Two approvers decide the same requests',
    symptom: 'Requests that one of them refuses are approved by the other.',
    description:
      'Requests of one signer were approved for reasons that two programs give. The weaker of the two decides what is allowed.',
    remedy: 'Switch one of them off.',
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit({ requests }) {
        const bySigner = Map.groupBy(requests, ({ csr }) => csr.spec.signerName)
        return [...bySigner].flatMap(([signer, of]) => {
          const reasons = new Map<string, string>()
          for (const { csr, name } of of) {
            const reason = csrCondition(csr, 'Approved')?.reason ?? ''
            if (!humans.includes(reason)) reasons.set(reason, name)
          }
          if (reasons.size < 2) return []
          return {
            object: `signer ${signer}`,
            evidence: [...reasons].map(([reason, name]) => ({
              value: `approved with reason ${reason}`,
              source: `CertificateSigningRequest ${name} status.conditions`,
            })),
            cause: `Reasons ${[...reasons.keys()].sort().join(' and ')} come from different approvers.`,
            fix: [{ run: 'kubectl get deployments -A | grep -i -e csr -e approv', purpose: 'finds them' }],
            verify: { run: 'rollcall csr ls', purpose: 'shows requests approved from then on' },
          }
        })
      },
    }),
  ],
}
