import { AddressIndex } from '../../approve/address-index.ts'
import { canonicalAddress } from '../../approve/canonical-name.ts'
import { parseIp } from '../../x509/ip.ts'
import { type Check, view } from '../check.ts'

export const z08: Check = {
  meta: {
    id: 'Z08',
    severity: 'warning',
    title: 'No two Nodes claim one address',
    failureTitle: 'Two Nodes claim one address',
    symptom:
      'The requests of both for serving certificates are refused; logs and exec reach the wrong machine.',
    description:
      'A Node writes its own addresses, so what two claim proves nothing for either. It comes from an address that was given to a new machine while the old Node is still there, or from a clone.',
    remedy: 'Delete the Node that is gone, or correct the addresses of one.',
    explains: ['C05', 'C09', 'G12'],
    reports: ['kubernetes/kubernetes#50635', 'alex1989hu/kubelet-serving-cert-approver#348'],
  },
  views: [
    view({
      requiredArtifacts: ['nodes'],
      audit({ nodes }) {
        const claims = new AddressIndex()
        for (const node of nodes) claims.set(node)
        return nodes.flatMap(({ metadata: { name }, status }) =>
          (status?.addresses ?? []).flatMap(({ type, address }) => {
            const holders = claims.holders(canonicalAddress(address).text)
            // Host names behind one name for all (`localhost`) are a choice; an address belongs to one machine.
            if (holders.length < 2 || parseIp(address) === undefined) return []
            return {
              object: `Node ${name}`,
              node: name,
              evidence: [{ value: `${type} ${address}`, source: `Node ${name} status.addresses` }],
              cause: `${address} is claimed by Nodes ${holders.join(' and ')}.`,
              fix: [
                {
                  run: 'kubectl get nodes -o wide',
                  purpose: 'which of them is gone? kubectl delete node removes it',
                },
              ],
              verify: { run: 'rollcall doctor', purpose: 'finds nothing any more' },
            }
          }),
        )
      },
    }),
  ],
}
