import { type Check, view } from '../check.ts'
import { showNode, watchRequests } from '../commands.ts'
import type { RequestFacts } from '../request-facts.ts'

const hour = 3_600_000
/** A kubelet whose requests stay pending asks four times an hour; more than twice that is no waiting. */
const mostInAnHour = 8

export const b13: Check = {
  meta: {
    id: 'B13',
    severity: 'warning',
    title: 'No node floods the API with requests',
    failureTitle: 'A node makes one certificate request after the other',
    symptom: 'The list of requests grows by dozens an hour for one node; the API slows down.',
    description:
      'A kubelet that waits asks every 15 minutes. More comes from a crash loop, a disk that does not take the new pair, addresses that keep changing, or denials, after which it asks again every half minute.',
    remedy: 'Look at the log of that kubelet and at its disk; stop what makes its addresses change.',
    reports: ['kubernetes/kubernetes#132947', 'openshift/cluster-machine-approver#310'],
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit({ requests }, now) {
        const recent = requests.filter(
          ({ created, kind, node }) => kind && node !== undefined && now - created < hour,
        )
        const floods = Map.groupBy(recent, ({ node, kind }) => `${node} ${kind}`)
        return (
          [...floods.values()]
            .filter(flood => flood.length > mostInAnHour)
            // After a denial a kubelet asks again every half minute: then the denial is the fault (C05, C09).
            .filter(flood => !flood.every(({ state }) => state === 'denied'))
            .map(describeFlood)
        )
      },
    }),
  ],
}

function describeFlood(flood: readonly RequestFacts[]) {
  const { node = '', kind } = flood[0] ?? {}
  const states = [...Map.groupBy(flood, ({ state }) => state)].map(([state, of]) => `${of.length} ${state}`)
  const addresses = new Set(flood.map(({ csr }) => csr.spec.username ?? ''))
  return {
    object: `Node ${node}`,
    node,
    evidence: [
      {
        value: `${flood.length} ${kind} requests in the last hour: ${states.join(', ')}`,
        source: 'CertificateSigningRequests',
      },
      { value: `asked by ${[...addresses].join(', ')}`, source: 'spec.username' },
    ],
    cause: states.some(state => state.endsWith('issued'))
      ? 'Requests are issued and asked again all the same: the node does not keep what it is given.'
      : 'The node asks again before anybody could have answered.',
    fix: [
      {
        run: 'journalctl -u kubelet --since -1h | grep -i certificate',
        purpose: 'on the node: why it asks again',
      },
      { run: 'df -h /var/lib/kubelet/pki', purpose: 'on the node: a full disk loses every new pair' },
      showNode(node),
    ],
    verify: watchRequests,
  }
}
