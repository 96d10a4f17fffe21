import { shellWord } from '../../survey/explanation.ts'
import { namesIn } from '../../survey/requested-names.ts'
import { verifyHostname } from '../../x509/hostname.ts'
import { readChain } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { showServed } from '../commands.ts'

export const a13: Check = {
  meta: {
    id: 'A13',
    severity: 'critical',
    title: 'The API server is certified for the names that clients dial',
    failureTitle: 'The certificate of the API server lacks the name that clients dial',
    symptom: 'Clients end with "x509: certificate is valid for A, not B".',
    description:
      'Looks at the certificate that the API server presents, and at the addresses in our kubeconfig and in kube-public/cluster-info, which joining nodes dial.',
    remedy:
      'Issue the certificate of the API server again with the name in its SANs, or have clients dial one that is there.',
    reports: ['kubernetes/kubernetes#59372'],
  },
  views: [
    view({
      requiredArtifacts: ['apiServing'],
      optionalArtifacts: ['clusterInfo'],
      audit({ apiServing, clusterInfo }) {
        const [leaf] = readChain(apiServing.chain).certificates
        if (!leaf) return []
        const published = URL.parse(clusterInfo?.server ?? '')?.hostname
        const dialled = new Map([[apiServing.host, 'the kubeconfig']])
        if (published && !dialled.has(published)) dialled.set(published, 'kube-public/cluster-info')
        return [...dialled].flatMap(([host, where]) => {
          const verdict = verifyHostname(leaf, host)
          if (verdict.ok) return []
          return {
            object: `the API server as ${host}`,
            everywhere: true,
            evidence: [
              { value: `${host} is what ${where} names`, source: where },
              {
                value: namesIn(leaf.subjectAltName).join(', ') || 'no names',
                source: `SANs served at ${apiServing.host}:${apiServing.port}`,
              },
            ],
            cause: verdict.reason,
            fix: [
              {
                run: `kubeadm init phase certs apiserver --apiserver-cert-extra-sans ${shellWord(host)}`,
                purpose:
                  'on each control-plane node, after moving apiserver.crt and apiserver.key away; then restart it',
              },
            ],
            verify: showServed(apiServing.host, apiServing.port),
          }
        })
      },
    }),
  ],
}
