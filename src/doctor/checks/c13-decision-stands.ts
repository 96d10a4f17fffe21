import type { Check } from '../check.ts'
import { watchRequests } from '../commands.ts'
import { logPatterns } from '../log-patterns.ts'
import { logView } from '../log-view.ts'

export const c13: Check = {
  meta: {
    id: 'C13',
    severity: 'info',
    title: 'Nobody tries to take back a decision',
    failureTitle: 'A tool tried to take back the decision on a request',
    symptom:
      '422: "Approved and Denied conditions are mutually exclusive", or "updates may not remove a condition".',
    description:
      'A request that was approved can no longer be denied, nor the other way round, and what was decided cannot be removed. The API keeps nothing of what it refused: only the log of who tried tells of it (`--log`).',
    remedy: 'Delete the request; the node makes a new one. A certificate that was issued stays good.',
  },
  views: [
    logView(logPatterns.C13, {
      cause: 'What was decided stays decided.',
      fix: [
        { run: 'rollcall csr ls', purpose: 'which one is it? kubectl delete csr NAME; the node asks again' },
      ],
      verify: watchRequests,
    }),
  ],
}
