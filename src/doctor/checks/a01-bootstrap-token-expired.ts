import { formatAge } from '../../kube/time-format.ts'
import type { Check } from '../check.ts'
import { view } from '../check.ts'
import { createToken, listTokens, runDoctor } from '../commands.ts'

/** Milliseconds: the token cleaner removes an expired token within moments; one that stays is used by nobody's mistake. */
const slack = 5 * 60_000

export const a01: Check = {
  meta: {
    id: 'A01',
    severity: 'critical',
    title: 'Bootstrap tokens are valid',
    failureTitle: 'A bootstrap token has expired',
    symptom:
      'A node never appears; its agent or kubelet logs "Unauthorized" when it asks for its first certificate.',
    description:
      'A bootstrap token lives 24 hours by default. After that the API answers 401 to it, and the token cleaner, where it runs, deletes its Secret. A node that was off for longer than its certificate lives has no other credential.',
    remedy: 'Make a new token and put it into the bootstrap kubeconfig of the nodes that still have to join.',
    explains: ['A08'],
    reports: ['kubernetes/kubernetes#65991', 'kubernetes/kubernetes#51509'],
  },
  views: [
    view({
      requiredArtifacts: ['bootstrapTokens'],
      audit: ({ bootstrapTokens }, now) =>
        bootstrapTokens.flatMap(({ name, expiration, authentication }) => {
          const end = Date.parse(expiration)
          if (!authentication || expiration === '' || now - end <= slack) return []
          const readable = !Number.isNaN(end)
          return {
            object: `Secret kube-system/${name}`,
            evidence: [
              {
                value: readable
                  ? `expiration ${expiration}, ${formatAge(now - end)} ago`
                  : `expiration ${JSON.stringify(expiration)} cannot be read, which counts as expired`,
                source: `Secret kube-system/${name} data.expiration`,
              },
            ],
            cause: 'The time to live of the token is over; nodes that hold it are refused.',
            fix: [createToken],
            verify: listTokens,
          }
        }),
    }),
    view({
      requiredArtifacts: ['bootstrapAttempt', 'bootstrapKubeconfig'],
      audit: ({
        bootstrapAttempt: { status, message, server },
        bootstrapKubeconfig: { path, credential },
      }) =>
        status !== 401 || credential !== 'token'
          ? []
          : [
              {
                object: path,
                evidence: [
                  { value: `401 ${message}`, source: `GET ${server}/apis with the token of ${path}` },
                ],
                cause:
                  'The API does not know the token: it has expired, was deleted, or its secret part is another.',
                fix: [createToken],
                verify: { ...runDoctor, run: 'rollcall doctor node' },
              },
            ],
    }),
  ],
}
