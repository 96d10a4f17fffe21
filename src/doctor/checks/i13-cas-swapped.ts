import { verifyChain } from '../../x509/certificate.ts'
import { formatName } from '../../x509/name.ts'
import { describe, readBundle, readChain } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { untrustedLeaves } from '../untrusted-leaves.ts'

export const i13: Check = {
  meta: {
    id: 'I13',
    severity: 'warning',
    title: 'The CA for clients and that for servers stand where they belong',
    failureTitle: 'The CA for clients and that for servers are swapped',
    symptom: 'Nodes get 401 and pods "unknown authority", although every certificate is in order.',
    description:
      'Certificates of nodes chain to kube-root-ca.crt and not to client-ca-file, and what the API presents chains to client-ca-file and not to kube-root-ca.crt: --client-ca-file of kube-apiserver and --root-ca-file of kube-controller-manager name each the CA of the other.',
    remedy: 'Give --client-ca-file the CA that signs clients, --root-ca-file the CA that signs servers.',
    explains: ['E14', 'I01', 'I05', 'I06'],
  },
  views: [
    view({
      requiredArtifacts: ['clientTrust', 'rootCertificates', 'apiServing', 'requests'],
      audit({ clientTrust, rootCertificates, apiServing, requests }, now) {
        const clientRoots = readBundle(clientTrust).certificates
        const serverRoots = [...new Set(rootCertificates.flatMap(({ pem }) => pem ?? []))].flatMap(
          pem => readBundle(pem).certificates,
        )
        const chain = readChain(apiServing.chain).certificates
        const [leaf] = chain
        const isServed = (roots: typeof clientRoots) =>
          verifyChain(chain, roots, { now, usage: 'serverAuth' }).ok
        const [node] = untrustedLeaves(requests, clientRoots, now)
        if (!leaf || !node || isServed(serverRoots) || !isServed(clientRoots)) return []
        if (!verifyChain([node.certificate], serverRoots, { now, usage: 'clientAuth' }).ok) return []
        return [
          {
            object: 'the CAs of the control plane',
            everywhere: true,
            severity: 'critical',
            evidence: [
              {
                value: `${describe(leaf)}, issuer ${formatName(leaf.issuer)}`,
                source: `served at ${apiServing.host}:${apiServing.port}`,
              },
              { value: serverRoots.map(describe).join('; '), source: 'ConfigMaps kube-root-ca.crt' },
              {
                value: `issuer ${formatName(node.certificate.issuer)}`,
                source: `CertificateSigningRequest ${node.request.name} status.certificate`,
              },
              {
                value: clientRoots.map(describe).join('; '),
                source: 'ConfigMap kube-system/extension-apiserver-authentication client-ca-file',
              },
            ],
            cause: 'Each of the two bundles holds the CA of the other.',
            fix: [
              {
                run: 'grep -H -e client-ca-file -e root-ca-file -e cluster-signing-cert-file /etc/kubernetes/manifests/kube-*.yaml',
                purpose: 'on each control-plane node: correct what is swapped',
              },
            ],
            verify: { run: 'rollcall doctor', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}
