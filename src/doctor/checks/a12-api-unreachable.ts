import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'

export const a12: Check = {
  meta: {
    id: 'A12',
    severity: 'critical',
    title: 'The API server can be reached',
    failureTitle: 'The API server cannot be reached at the address in the kubeconfig',
    symptom:
      'Timeouts, "connection refused" or "no such host"; the kubelet logs "Failed to connect to apiserver".',
    description:
      'There was no TLS handshake with the address in the kubeconfig: the name does not resolve, nothing listens, a load balancer has no back end, or a proxy is in between (HTTPS_PROXY without NO_PROXY).',
    remedy: 'Correct the address, or what stands in between.',
    explains: ['A01', 'D02'],
  },
  views: [
    view({
      requiredArtifacts: ['apiReach'],
      audit: ({ apiReach: { server, failure } }) =>
        failure === undefined
          ? []
          : [
              {
                object: server,
                everywhere: true,
                evidence: [{ value: failure, source: `TLS handshake with ${server}` }],
                cause: 'Nothing that speaks TLS answers there.',
                fix: [
                  {
                    run: `curl -vk ${shellWord(`${server}/livez`)}`,
                    purpose: 'from the same machine: shows where it stops',
                  },
                  { run: 'env | grep -i _proxy', purpose: 'is the address in NO_PROXY?' },
                ],
                verify: { run: `curl -k ${shellWord(`${server}/livez`)}`, purpose: 'answers ok' },
              },
            ],
    }),
  ],
}
