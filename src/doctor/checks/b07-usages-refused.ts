import type { Check } from '../check.ts'
import { watchRequests } from '../commands.ts'
import { logPatterns } from '../log-patterns.ts'
import { logView } from '../log-view.ts'

export const b07: Check = {
  meta: {
    id: 'B07',
    severity: 'warning',
    title: 'Requests name usages that there are, each once',
    failureTitle: 'A request is refused for its usages',
    symptom: '422 about spec.usages; no request is made.',
    description:
      'spec.usages is missing, or names one twice or one that Kubernetes does not know. The API keeps nothing of what it refused: only the log of who asked tells of it (`--log`).',
    remedy: 'Name `digital signature`, for RSA keys `key encipherment`, and `client auth` or `server auth`.',
  },
  views: [
    logView(logPatterns.B07, {
      cause: 'spec.usages is empty, or holds a word twice or one that there is not.',
      fix: [
        {
          run: 'kubectl explain certificatesigningrequest.spec.usages',
          purpose: 'the words that there are; correct what makes the request',
        },
      ],
      verify: watchRequests,
    }),
  ],
}
