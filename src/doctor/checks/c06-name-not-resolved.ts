import { type Check, view } from '../check.ts'
import { showRequest, watchRequests } from '../commands.ts'
import { recentEndings } from '../recent-endings.ts'

/** What resolvers, and the approvers that ask them, say. */
const aboutDns = /no such host|lookup |NXDOMAIN|DNS (name|resol)|(could|can|did) ?no?t? (be )?resolved?/i

export const c06: Check = {
  meta: {
    id: 'C06',
    severity: 'warning',
    title: 'Approvers do not depend on DNS',
    failureTitle: 'A request was denied since a name could not be resolved',
    symptom: 'Serving requests of nodes whose names are not in DNS are denied, every half minute anew.',
    description:
      'Some approvers look up the names of a request and deny it where DNS does not know them or knows other addresses. DNS proves nothing about a node, and node names are often not in it.',
    remedy: 'Use an approver that compares with the addresses of the Node, or switch its DNS rule off.',
    explains: ['C09', 'G01', 'B13', 'C05'],
    reports: ['postfinance/kubelet-csr-approver#29', 'postfinance/kubelet-csr-approver#171'],
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit: ({ requests }, now) =>
        recentEndings(requests, 'denied', now)
          .filter(({ condition }) => aboutDns.test(`${condition.reason} ${condition.message}`))
          .map(({ request: { name, node }, evidence }) => ({
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [evidence],
            cause: 'The approver asks DNS, which does not know the names of the node.',
            fix: [
              {
                run: 'rollcall controller --only approval',
                purpose: 'approves by the addresses of the Node, without DNS; switch the other approver off',
              },
              showRequest(name),
            ],
            verify: watchRequests,
          })),
    }),
  ],
}
