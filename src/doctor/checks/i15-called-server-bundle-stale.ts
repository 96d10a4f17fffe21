import { describe, readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'

export const i15: Check = {
  meta: {
    id: 'I15',
    severity: 'warning',
    title: 'The CA bundles of webhooks and extension APIs are in force',
    failureTitle: 'The CA bundle of a webhook or extension API holds no CA in force',
    symptom: 'Admission fails: "failed calling webhook … x509: certificate has expired or is not yet valid".',
    description:
      'Every certificate in the caBundle has expired or cannot be read, so nothing that the server presents can be verified. Only what the bundle says is looked at: the servers are inside the cluster.',
    remedy: 'Put the present CA into caBundle; cert-manager’s cainjector does it by itself.',
  },
  views: [
    view({
      requiredArtifacts: ['calledServers'],
      audit: ({ calledServers }, now) =>
        calledServers.flatMap(({ object, caBundle }) => {
          if (caBundle === undefined) return []
          const { certificates, unreadable } = readBundle(caBundle)
          if (certificates.some(({ notBefore, notAfter }) => notBefore <= now && now <= notAfter)) return []
          return {
            object,
            evidence: [
              {
                value: [...certificates.map(describe), ...unreadable].join('; ') || 'no certificate',
                source: `${object} caBundle`,
              },
            ],
            cause: 'The CA of the server was changed or has ended, and the bundle was forgotten.',
            fix: [
              {
                run: 'kubectl get apiservices,validatingwebhookconfigurations,mutatingwebhookconfigurations',
                purpose: 'put the present CA into the caBundle of this one',
              },
            ],
            verify: runDoctor,
          }
        }),
    }),
  ],
}
