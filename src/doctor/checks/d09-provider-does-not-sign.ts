import { signerNames } from '../../kube/types.ts'
import { CONTROLLER_PATIENCE } from '../../survey/csr-facts.ts'
import { type Check, view } from '../check.ts'
import { showRequest, watchRequests } from '../commands.ts'

const refusedByEks: readonly string[] = [signerNames.kubeletClient, signerNames.apiserverClient]

export const d09: Check = {
  meta: {
    id: 'D09',
    severity: 'critical',
    title: 'The managed control plane signs for this signer',
    failureTitle: 'The managed control plane does not sign for this signer',
    symptom: 'Requests show "Approved" and never "Approved,Issued".',
    description:
      'Amazon EKS signs no client certificates since 1.22, whoever approves them: its nodes authenticate by IAM. Its kubelets are told by their version (`v1.30.0-eks-…`).',
    remedy: 'Use what the provider has in place of it: IAM for clients, its own signer names for the rest.',
    explains: ['D01', 'B14'],
    reports: ['aws/containers-roadmap#1604'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes'],
      audit({ requests, nodes }, now) {
        const eks = nodes.find(({ status }) => /-eks-/.test(status?.nodeInfo?.kubeletVersion ?? ''))
        if (!eks) return []
        return requests
          .filter(({ state, csr }) => state === 'unsigned' && refusedByEks.includes(csr.spec.signerName))
          .filter(({ decided, created }) => now - (decided ?? created) > CONTROLLER_PATIENCE)
          .map(({ name, node, csr }) => ({
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              {
                value: `signerName ${csr.spec.signerName}`,
                source: `CertificateSigningRequest ${name} spec`,
              },
              {
                value: eks.status?.nodeInfo?.kubeletVersion ?? '',
                source: `Node ${eks.metadata.name} status.nodeInfo.kubeletVersion`,
              },
            ],
            cause: 'Amazon EKS does not sign client certificates.',
            fix: [
              {
                run: 'kubectl -n kube-system get configmap aws-auth -o yaml',
                purpose: 'who may authenticate by IAM in place of a certificate',
              },
              showRequest(name),
            ],
            verify: watchRequests,
          }))
      },
    }),
  ],
}
