import { canonicalAddress } from '../../approve/canonical-name.ts'
import { namesIn } from '../../survey/requested-names.ts'
import { type Check, view } from '../check.ts'
import { restartKubelet, showNode } from '../commands.ts'
import { latestIssued } from '../node-certificates.ts'

export const g06: Check = {
  meta: {
    id: 'G06',
    severity: 'warning',
    title: 'Serving certificates follow the addresses of the Node',
    failureTitle: 'The addresses of a Node changed after its serving certificate was issued',
    symptom: 'Clients that dial the new address end with "certificate is valid for A, not B".',
    description:
      'Compares the InternalIPs of the Node with the SANs of the latest certificate that it was issued. A kubelet asks again within seconds of a change; if no newer request is there, it did not notice.',
    remedy: 'Approve the new request where there is one; otherwise restart the kubelet.',
    reports: ['kubernetes/kubernetes#65594', 'kubernetes/kubernetes#125813'],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes'],
      audit({ requests, nodes }, now) {
        const byName = new Map(nodes.map(node => [node.metadata.name, node]))
        return latestIssued(requests, 'serving').flatMap(({ node, certificate, request }) => {
          if (!request.newest || now > certificate.notAfter) return []
          const names = namesIn(certificate.subjectAltName)
          const held = new Set(names.map(name => canonicalAddress(name.replace(/^(DNS|IP) /, '')).text))
          const addresses = byName.get(node)?.status?.addresses ?? []
          const missing = addresses.filter(
            ({ type, address }) => type === 'InternalIP' && !held.has(canonicalAddress(address).text),
          )
          if (missing.length === 0) return []
          return {
            object: `Node ${node}`,
            node,
            evidence: [
              {
                value: missing.map(({ type, address }) => `${type} ${address}`).join(', '),
                source: `Node ${node} status.addresses`,
              },
              {
                value: `SANs ${names.join(', ')}`,
                source: `CertificateSigningRequest ${request.name} status.certificate`,
              },
            ],
            cause: 'The Node has an address that its serving certificate lacks, and has not asked again.',
            fix: [restartKubelet],
            verify: showNode(node),
          }
        })
      },
    }),
  ],
}
