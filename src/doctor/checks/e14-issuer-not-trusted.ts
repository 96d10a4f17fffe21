import { formatName } from '../../x509/name.ts'
import { describe, readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { createToken, restartKubelet } from '../commands.ts'
import { latestIssued } from '../node-certificates.ts'
import { isAlive, nodeLease } from '../node-lease.ts'
import { untrustedLeaves } from '../untrusted-leaves.ts'

export const e14: Check = {
  meta: {
    id: 'E14',
    severity: 'critical',
    title: "The API trusts the CA of the nodes' client certificates",
    failureTitle: 'A node holds a client certificate of a CA that the API does not trust',
    symptom:
      'The node gets 401 for everything and never bootstraps: to the kubelet its certificate looks valid.',
    description:
      'Verifies the latest client certificate of each node against client-ca-file, which kube-apiserver publishes in ConfigMap kube-system/extension-apiserver-authentication.',
    remedy:
      'Put the old CA back beside the new one until every node has a certificate of the new one; or bootstrap the node.',
    explains: ['Z07', 'E18'],
    reports: ['kubernetes/kubernetes#102283', 'rancher/rancher#25125'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'clientTrust'],
      optionalArtifacts: ['nodeLeases', 'nodes'],
      audit({ requests, clientTrust }, now) {
        const roots = readBundle(clientTrust).certificates
        return untrustedLeaves(requests, roots, now).map(({ node, certificate, request, reason }) => {
          return {
            object: `Node ${node}`,
            node,
            evidence: [
              {
                value: `issuer ${formatName(certificate.issuer)}: ${reason}`,
                source: `CertificateSigningRequest ${request.name} status.certificate`,
              },
              {
                value: roots.map(describe).join('; ') || 'no certificate',
                source: 'ConfigMap kube-system/extension-apiserver-authentication client-ca-file',
              },
            ],
            cause:
              'The CA that issued it was taken out of --client-ca-file while the certificate was in use.',
            fix: [
              {
                run: 'cat old-ca.crt >> /etc/kubernetes/pki/ca.crt',
                purpose: 'on each control-plane node: trusts both; then restart kube-apiserver',
              },
              createToken,
              restartKubelet,
            ],
            verify: { run: 'rollcall doctor', purpose: 'finds nothing any more' },
          }
        })
      },
      // Who is alive is let in by its certificate; of who is silent it may have been refused.
      unseen({ requests, nodes = [], nodeLeases = [] }, now) {
        const known = new Set(latestIssued(requests, 'client').map(({ node }) => node))
        const there = new Set(nodes.map(({ metadata }) => metadata.name))
        const unknown = nodeLeases
          .map(nodeLease)
          .some(lease => there.has(lease.node) && !isAlive(lease, now) && !known.has(lease.node))
        return unknown ? ['requests'] : []
      },
    }),
  ],
}
