import { formatAge, formatTime } from '../../kube/time-format.ts'
import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'
import { nodeLease } from '../node-lease.ts'

/** Milliseconds. Certificates are backdated by five minutes, so one minute is early enough to say so. */
const most = 60_000
const fix = [
  { run: 'timedatectl', purpose: 'on both machines: is NTP synchronised?' },
  { run: 'chronyc makestep', purpose: 'sets a clock that NTP knows better' },
]

export const e13: Check = {
  meta: {
    id: 'E13',
    severity: 'warning',
    title: 'Clocks agree',
    failureTitle: 'Clocks differ by more than a minute',
    symptom: 'Certificates are not yet valid or expire early; nodes flap between Ready and Unknown.',
    description:
      "Compares the API's time with ours, and with what each node writes into its Lease: a Lease renewed in the future shows a clock that is ahead. One that is behind cannot be told from a node that stopped.",
    remedy: 'Have all machines follow NTP.',
    reports: ['deckhouse/deckhouse#12232', 'kubernetes/kubernetes#76714', 'aws/eks-anywhere#9040'],
  },
  views: [
    view({
      requiredArtifacts: ['clocks'],
      audit({ clocks: { server, local } }) {
        const skew = Date.parse(server) - Date.parse(local)
        if (Math.abs(skew) <= most) return []
        return [
          {
            object: 'the API server',
            evidence: [
              { value: server, source: 'SelfSubjectReview metadata.creationTimestamp' },
              { value: local, source: 'our own clock' },
            ],
            cause: `The clock of the API server is ${formatAge(Math.abs(skew))} ${skew > 0 ? 'ahead of' : 'behind'} ours; one of the two is wrong.`,
            fix,
            verify: runDoctor,
          },
        ]
      },
    }),
    view({
      requiredArtifacts: ['nodeLeases', 'clocks'],
      audit({ nodeLeases, clocks: { server, local } }, now) {
        const serverNow = now + Date.parse(server) - Date.parse(local)
        return nodeLeases.map(nodeLease).flatMap(({ node, renewed }) => {
          if (renewed === undefined || renewed - serverNow <= most) return []
          return {
            object: `Node ${node}`,
            node,
            evidence: [
              {
                value: `renewed ${formatTime(renewed)}`,
                source: `Lease kube-node-lease/${node} spec.renewTime`,
              },
              { value: formatTime(serverNow), source: 'the clock of the API server' },
            ],
            cause: 'The clock of the node is ahead of that of the API server.',
            fix,
            verify: runDoctor,
          }
        })
      },
    }),
  ],
}
