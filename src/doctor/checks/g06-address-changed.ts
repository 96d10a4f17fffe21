import { canonicalAddress } from '../../approve/canonical-name.ts'
import { namesIn } from '../../survey/requested-names.ts'
import { type Check, view } from '../check.ts'
import { restartKubelet, showNode } from '../commands.ts'
import type { Facts } from '../facts.ts'
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
      optionalArtifacts: ['ledgerLeaves'],
      audit(facts, now) {
        const names = servingNames(facts)
        const asked = asking(facts)
        return facts.nodes.flatMap(({ metadata: { name: node }, status }) => {
          const known = names.get(node)
          if (!known || now > known.notAfter || (asked.get(node) ?? 0) >= known.notBefore) return []
          const held = new Set(known.names.map(name => canonicalAddress(name.replace(/^(DNS|IP) /, '')).text))
          const missing = (status?.addresses ?? []).filter(
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
              { value: `SANs ${known.names.join(', ')}`, source: known.source },
            ],
            cause: 'The Node has an address that its serving certificate lacks, and has not asked again.',
            fix: [restartKubelet],
            verify: showNode(node),
          }
        })
      },
      unseen(facts) {
        const names = servingNames(facts)
        const unknown = facts.nodes.some(({ metadata }) => !names.has(metadata.name))
        return unknown ? ['ledgerLeaves'] : []
      },
    }),
  ],
}

type NameFacts = Pick<Facts, 'requests'> & Partial<Pick<Facts, 'ledgerLeaves'>>

interface ServingNames {
  names: string[]
  /** Milliseconds since the epoch. */
  notBefore: number
  notAfter: number
  source: string
}

/** Of the newest serving certificate that is known of each node. */
function servingNames({ requests, ledgerLeaves = [] }: NameFacts): Map<string, ServingNames> {
  const remembered = ledgerLeaves
    .filter(({ kind }) => kind === 'serving')
    .map(({ node, dnsNames, ipAddresses, notBefore, notAfter }): [string, ServingNames] => [
      node,
      {
        names: [...dnsNames.map(name => `DNS ${name}`), ...ipAddresses.map(address => `IP ${address}`)],
        notBefore: Date.parse(notBefore),
        notAfter: Date.parse(notAfter),
        source: "the signer's ledger",
      },
    ])
  const known = new Map(remembered)
  for (const { node, certificate, request } of latestIssued(requests, 'serving')) {
    const { notBefore, notAfter, subjectAltName } = certificate
    if ((known.get(node)?.notBefore ?? 0) > notBefore) continue
    const source = `CertificateSigningRequest ${request.name} status.certificate`
    known.set(node, { names: namesIn(subjectAltName), notBefore, notAfter, source })
  }
  return known
}

/** When each node made its newest serving request, where that is not answered by a certificate; in milliseconds. */
function asking({ requests }: NameFacts): Map<string | undefined, number> {
  const open = requests.filter(
    ({ kind, newest, state }) => kind === 'serving' && newest && state !== 'issued',
  )
  return new Map(open.map(({ node, created }) => [node, created]))
}
