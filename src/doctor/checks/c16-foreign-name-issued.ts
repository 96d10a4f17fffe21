import { AddressIndex } from '../../approve/address-index.ts'
import { canonicalAddress } from '../../approve/canonical-name.ts'
import { formatTime } from '../../kube/time-format.ts'
import { shellWord } from '../../survey/explanation.ts'
import { namesIn } from '../../survey/requested-names.ts'
import { readChain } from '../certificates.ts'
import { type Check, view } from '../check.ts'

export const c16: Check = {
  meta: {
    id: 'C16',
    severity: 'critical',
    title: 'No node holds a certificate for the name of another',
    failureTitle: 'A certificate was issued to a node for a name that is not its own',
    symptom: 'Nobody notices: its holder can pose as another node, or as the API server.',
    description:
      'Compares the SANs of issued serving certificates with the Nodes and with the names of the API server. Weak approvers and `xargs kubectl certificate approve` issue such certificates. There is no revocation in Kubernetes.',
    remedy:
      'Find out who asked and who approved. The certificate is good until it expires; where that is too long, rotate the CA.',
    reports: [
      'alex1989hu/kubelet-serving-cert-approver#348',
      'kubernetes/kubernetes#133975',
      'kubernetes/enhancements#4911',
    ],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes'],
      optionalArtifacts: ['apiServing'],
      audit({ requests, nodes, apiServing }, now) {
        const claims = new AddressIndex()
        for (const node of nodes) claims.set(node)
        const [api] = readChain(apiServing?.chain ?? []).certificates
        const ofApi = new Set(api ? namesIn(api.subjectAltName).map(canonicalName) : [])
        return requests.flatMap(({ kind, issued, node, name }) => {
          if (kind !== 'serving' || !issued?.ok || now > issued.value.notAfter) return []
          const foreign = namesIn(issued.value.subjectAltName).flatMap(shown => {
            const holders = claims.holders(canonicalName(shown))
            // What the Node lists itself it may have, be it the address of the API server on the same machine.
            if (holders.includes(node ?? '')) return []
            const wildcard = shown.includes('*') ? ['a wildcard'] : []
            const server = ofApi.has(canonicalName(shown)) ? ['the API server'] : []
            const [owner] = [...holders.map(holder => `Node ${holder}`), ...server, ...wildcard]
            return owner === undefined ? [] : [`${shown} (${owner})`]
          })
          if (foreign.length === 0) return []
          return {
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              {
                value: `${foreign.join(', ')}; valid until ${formatTime(issued.value.notAfter)}`,
                source: `CertificateSigningRequest ${name} status.certificate`,
              },
            ],
            cause: 'It was approved although the names belong to somebody else.',
            fix: [
              {
                run: `kubectl get csr ${shellWord(name)} -o yaml`,
                purpose: 'shows who asked, who approved, and why',
              },
              {
                run: `kubectl cordon ${shellWord(node ?? '')}`,
                purpose: 'until it is clear who holds the key',
              },
            ],
            verify: {
              run: `rollcall csr show ${shellWord(name)}`,
              purpose: 'shows the names beside the Node',
            },
          }
        })
      },
    }),
  ],
}

/** `DNS a` and `IP 10.0.0.1` as the address index spells them. */
function canonicalName(shown: string): string {
  return canonicalAddress(shown.replace(/^(DNS|IP) /, '')).text
}
