import type { Check } from '../check.ts'
import { watchRequests } from '../commands.ts'
import { logPatterns } from '../log-patterns.ts'
import { logView } from '../log-view.ts'

export const c12: Check = {
  meta: {
    id: 'C12',
    severity: 'warning',
    title: 'Requests are decided before they are deleted',
    failureTitle: 'A request was deleted before the node had its certificate',
    symptom: '`kubectl certificate approve` says not found; the node logs that its request was deleted.',
    description:
      'Kubernetes deletes a request 24 hours after it was made or approved, and one hour after it was issued, denied or failed. What is gone leaves no trace but in the log of who waited for it (`--log`).',
    remedy: 'Nothing is lost: the node asks again within 15 minutes. Decide that one in time.',
  },
  views: [
    logView(logPatterns.C12, {
      cause: 'Nobody decided it within its 24 hours, or somebody deleted it.',
      fix: [{ run: 'rollcall csr ls --pending', purpose: 'the request that came in its place; decide it' }],
      verify: watchRequests,
    }),
  ],
}
