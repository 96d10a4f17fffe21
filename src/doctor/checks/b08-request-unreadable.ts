import type { Check } from '../check.ts'
import { watchRequests } from '../commands.ts'
import { logPatterns } from '../log-patterns.ts'
import { logView } from '../log-view.ts'

export const b08: Check = {
  meta: {
    id: 'B08',
    severity: 'warning',
    title: 'Requests hold a PKCS#10 request that can be read',
    failureTitle: 'A request is refused since its PKCS#10 request cannot be read',
    symptom: '422: "PEM block type must be CERTIFICATE REQUEST", or a signature that does not fit.',
    description:
      'The tool wrote NEW CERTIFICATE REQUEST, or DER in place of PEM, or signed with another key than the request names. The API keeps nothing of what it refused: only the log of who asked tells of it (`--log`).',
    remedy: 'Make the request anew: PEM of type CERTIFICATE REQUEST, in base64, signed with its own key.',
  },
  views: [
    logView(logPatterns.B08, {
      cause: 'spec.request is no PEM block CERTIFICATE REQUEST, or what is in it is broken.',
      fix: [
        {
          run: 'openssl req -in node.csr -noout -verify -subject',
          purpose: 'says whether PEM and signature are good',
        },
        { run: 'rollcall csr explain -f csr.yaml', purpose: 'judges a request before it is made' },
      ],
      verify: watchRequests,
    }),
  ],
}
