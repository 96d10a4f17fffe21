import type { Check } from '../check.ts'
import { watchRequests } from '../commands.ts'
import { logPatterns } from '../log-patterns.ts'
import { logView } from '../log-view.ts'

export const b06: Check = {
  meta: {
    id: 'B06',
    severity: 'warning',
    title: 'Requests ask for ten minutes or more',
    failureTitle: 'A request asks for less than ten minutes and is refused',
    symptom: '422: "may not specify a duration less than 600 seconds"; no request is made.',
    description:
      'The API takes no spec.expirationSeconds below 600. It keeps nothing of what it refused: only the log of who asked tells of it (`--log`).',
    remedy: 'Ask for 600 seconds or more, or for nothing; the signer then gives what it gives.',
  },
  views: [
    logView(logPatterns.B06, {
      cause: 'spec.expirationSeconds is below 600.',
      fix: [
        {
          run: 'rollcall csr explain -f csr.yaml',
          purpose: 'judges a request before it is made; set expirationSeconds to 600 or more',
        },
      ],
      verify: watchRequests,
    }),
  ],
}
