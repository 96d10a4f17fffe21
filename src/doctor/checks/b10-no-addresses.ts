import { shellWord } from '../../survey/explanation.ts'
import { parseIp } from '../../x509/ip.ts'
import { type Check, view } from '../check.ts'

/** Milliseconds that a cloud controller may take. */
const patience = 5 * 60_000

export const b10: Check = {
  meta: {
    id: 'B10',
    severity: 'critical',
    title: 'Every Node has an IP address',
    failureTitle: 'A Node has no IP address, so its kubelet never asks for a serving certificate',
    symptom:
      '`kubectl logs` and `exec` end with "tls: internal error"; no request for a serving certificate appears.',
    description:
      'A kubelet asks for its serving certificate only when Node.status.addresses holds an IP address (since 1.31 a name alone is not enough), and says nothing until then. Addresses come from the kubelet or, with --cloud-provider=external, from the cloud controller manager.',
    remedy: 'Start the cloud controller manager, or set --node-ip on the kubelet.',
    explains: ['G01', 'C05', 'C10'],
    reports: ['kubernetes/kubernetes#130001', 'kubernetes/kubernetes#125813', 'kubernetes/kubernetes#121028'],
  },
  views: [
    view({
      requiredArtifacts: ['nodes'],
      audit: ({ nodes }, now) =>
        nodes.flatMap(({ metadata: { name, creationTimestamp }, status }) => {
          const addresses = status?.addresses ?? []
          if (addresses.some(({ address }) => parseIp(address) !== undefined)) return []
          if (now - Date.parse(creationTimestamp ?? '') < patience) return []
          const shown = addresses.map(({ type, address }) => `${type} ${address}`).join(', ')
          return {
            object: `Node ${name}`,
            node: name,
            evidence: [{ value: shown || 'no addresses', source: `Node ${name} status.addresses` }],
            cause: 'Neither the kubelet nor a cloud controller has set an IP address.',
            fix: [
              {
                run: `kubectl get node ${shellWord(name)} -o jsonpath='{.spec.taints}'`,
                purpose:
                  'node.cloudprovider.kubernetes.io/uninitialized: start the cloud controller manager; else set --node-ip on the kubelet',
              },
            ],
            verify: {
              run: `kubectl get node ${shellWord(name)} -o wide`,
              purpose: 'shows an INTERNAL-IP',
            },
          }
        }),
    }),
  ],
}
