import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import type { Finding } from '../finding.ts'

export const a12: Check = {
  meta: {
    id: 'A12',
    severity: 'critical',
    title: 'The API server can be reached',
    failureTitle: 'The API server cannot be reached at the address in the kubeconfig',
    symptom:
      'Timeouts, "connection refused" or "no such host"; the kubelet logs "Failed to connect to apiserver".',
    description:
      'There was no TLS handshake with the address in the kubeconfig: the name does not resolve, nothing listens, a load balancer has no back end, or a proxy is in between (HTTPS_PROXY without NO_PROXY). Or there was one, and what answers is no Kubernetes API, or does not answer at all.',
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
              found(
                server,
                failure,
                `TLS handshake with ${server}`,
                'Nothing that speaks TLS answers there.',
              ),
            ],
    }),
    view({
      requiredArtifacts: ['apiAnswer'],
      optionalArtifacts: ['apiReach'],
      audit({ apiAnswer: { server, trouble }, apiReach }) {
        if (apiReach?.failure !== undefined || !trouble) return []
        const { kind, message } = trouble
        const source = `GET ${server}/version`
        if (kind === 'silent')
          return [found(server, message, source, 'What listens there does not answer requests.')]
        return kind === 'strange'
          ? [found(server, message, source, 'What answers there is no Kubernetes API.')]
          : []
      },
    }),
  ],
}

function found(server: string, value: string, source: string, cause: string): Finding {
  return {
    object: server,
    everywhere: true,
    evidence: [{ value, source }],
    cause,
    fix: [
      {
        run: `curl -vk ${shellWord(`${server}/livez`)}`,
        purpose: 'from the same machine: shows where it stops',
      },
      { run: 'env | grep -i _proxy', purpose: 'is the address in NO_PROXY?' },
    ],
    verify: { run: `curl -k ${shellWord(`${server}/livez`)}`, purpose: 'answers ok' },
  }
}
