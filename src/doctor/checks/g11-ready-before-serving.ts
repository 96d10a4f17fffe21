import { formatAge, formatTime } from '../../kube/time-format.ts'
import { type Check, view } from '../check.ts'
import { showNode } from '../commands.ts'

/** Milliseconds that pods could already be scheduled while exec and logs fail; below, nobody notices. */
const noticed = 30_000

export const g11: Check = {
  meta: {
    id: 'G11',
    severity: 'info',
    title: 'Nodes have their serving certificate when pods come',
    failureTitle: 'A new node was Ready before it had a serving certificate',
    symptom: 'exec and logs fail for the first pods of a new node: "tls: internal error".',
    description:
      'Pods are scheduled as soon as a node is Ready. Compares that moment with the one at which its first serving request was approved.',
    remedy:
      'Register nodes with a taint and remove it when the certificate is there, or have the approver decide at once.',
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes'],
      audit({ requests, nodes }) {
        const serving = requests.filter(({ kind, node }) => kind === 'serving' && node !== undefined)
        const first = new Map([...serving].reverse().map(request => [request.node, request]))
        return nodes.flatMap(({ metadata: { name, creationTimestamp = '' }, status }) => {
          const request = first.get(name)
          const condition = status?.conditions?.find(({ type }) => type === 'Ready')
          const ready =
            condition?.status === 'True' ? Date.parse(condition.lastTransitionTime ?? '') : Number.NaN
          if (!request?.issued?.ok || request.decided === undefined || Number.isNaN(ready)) return []
          // Later ones are renewals: the node had one when it became Ready.
          if (request.created - Date.parse(creationTimestamp) > newNode) return []
          const late = request.decided - ready
          if (late < noticed) return []
          return {
            object: `Node ${name}`,
            node: name,
            evidence: [
              { value: `Ready since ${formatTime(ready)}`, source: `Node ${name} status.conditions` },
              {
                value: `approved ${formatAge(late)} later`,
                source: `CertificateSigningRequest ${request.name} status.conditions`,
                at: formatTime(request.decided),
              },
            ],
            cause: 'The node took pods before its serving certificate was approved.',
            fix: [
              {
                run: 'rollcall csr ls --signer serving',
                purpose: 'who decides them, and how long it takes; a startup taint bridges it',
              },
            ],
            verify: showNode(name),
          }
        })
      },
    }),
  ],
}

/** Milliseconds after its creation in which a node makes its first serving request. */
const newNode = 30 * 60_000
