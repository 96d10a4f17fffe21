import { verifyChain } from '../../x509/certificate.ts'
import { describe, readBundle, readChain } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'

export const i05: Check = {
  meta: {
    id: 'I05',
    severity: 'critical',
    title: 'Joining nodes are given the CA that the API server chains to',
    failureTitle: 'Joining nodes are given a CA that the API server does not chain to',
    symptom: 'New nodes end with "x509: certificate signed by unknown authority"; old ones work.',
    description:
      'Verifies what the API server presents against the CA in kube-public/cluster-info, which kubeadm join and images hand on. After a rotation of the CA it is easily forgotten. One that cannot be read hands out nothing at all.',
    remedy:
      'Write the present CA bundle into cluster-info, and into images and cloud-init data that carry it.',
    reports: ['okd-project/okd#1881', 'kubernetes/kubeadm#2027'],
  },
  views: [
    view({
      requiredArtifacts: ['clusterInfo'],
      audit: ({ clusterInfo: { problem } }) =>
        problem === undefined
          ? []
          : [
              {
                object: 'ConfigMap kube-public/cluster-info',
                evidence: [{ value: problem, source: 'ConfigMap kube-public/cluster-info kubeconfig' }],
                cause: 'Nobody who joins by discovery can read where the cluster is, or its CA.',
                fix: [
                  {
                    run: 'kubeadm init phase bootstrap-token',
                    purpose:
                      'on a control-plane node: writes it anew; rollcall up and server do so when they start',
                  },
                ],
                verify: runDoctor,
              },
            ],
    }),
    view({
      requiredArtifacts: ['clusterInfo', 'apiServing'],
      audit({ clusterInfo, apiServing }, now) {
        const chain = readChain(apiServing.chain).certificates
        const [leaf] = chain
        if (clusterInfo.certificateAuthority === undefined || !leaf) return []
        if (now > leaf.notAfter || now < leaf.notBefore) return []
        const roots = readBundle(clusterInfo.certificateAuthority).certificates
        const verdict = verifyChain(chain, roots, { now, usage: 'serverAuth' })
        if (verdict.ok) return []
        return [
          {
            object: 'ConfigMap kube-public/cluster-info',
            evidence: [
              {
                value: roots.map(describe).join('; ') || 'no certificate',
                source: 'ConfigMap kube-public/cluster-info',
              },
              {
                value: `${describe(leaf)}: ${verdict.reason}`,
                source: `served at ${apiServing.host}:${apiServing.port}`,
              },
            ],
            cause: 'cluster-info still holds another CA.',
            fix: [
              {
                run: 'kubectl -n kube-public edit configmap cluster-info',
                purpose: 'put in the present CA bundle',
              },
            ],
            verify: runDoctor,
          },
        ]
      },
    }),
  ],
}
