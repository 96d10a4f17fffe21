import { type Check, view } from '../check.ts'
import { showRequest, watchRequests } from '../commands.ts'
import { recentEndings } from '../recent-endings.ts'

export const c09: Check = {
  meta: {
    id: 'C09',
    severity: 'warning',
    title: 'No request was denied lately',
    failureTitle: 'A request was denied',
    symptom: 'The node asks again every half minute, and each request is denied.',
    description:
      'Somebody, or the rule of an approver, denied the request. A denial cannot be taken back; the node makes a new request. Kubernetes deletes denied requests after an hour.',
    remedy: 'Read the reason; correct the node, or widen the rule of the approver deliberately.',
    explains: ['G01'],
    reports: ['postfinance/kubelet-csr-approver#29', 'postfinance/kubelet-csr-approver#70'],
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit: ({ requests }, now) =>
        recentEndings(requests, 'denied', now).map(({ request: { name, node }, condition, evidence }) => ({
          object: `CertificateSigningRequest ${name}`,
          ...(node !== undefined && { node }),
          evidence: [evidence],
          cause: `The approver gave the reason ${condition.reason ?? 'no reason'}.`,
          fix: [showRequest(name)],
          verify: watchRequests,
        })),
    }),
  ],
}
