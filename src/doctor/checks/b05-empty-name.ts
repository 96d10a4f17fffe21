import { type Check, view } from '../check.ts'
import { deleteRequest, watchRequests } from '../commands.ts'

export const b05: Check = {
  meta: {
    id: 'B05',
    severity: 'critical',
    title: 'Requests name a node',
    failureTitle: 'A request is for a node without a name',
    symptom: 'The API answers "unknown node for user"; the request is never approved.',
    description: 'The subject is `system:node:` with nothing behind it: a template left the node name empty.',
    remedy: 'Set the node name in the template or script that starts the kubelet.',
    reports: ['kelseyhightower/kubernetes-the-hard-way#228'],
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit: ({ requests }) =>
        requests.flatMap(({ kind, asked, name, state }) =>
          !kind || !asked.ok || state === 'denied' || asked.value.commonName !== 'system:node:'
            ? []
            : {
                object: `CertificateSigningRequest ${name}`,
                evidence: [
                  {
                    value: 'subject CN=system:node:',
                    source: `CertificateSigningRequest ${name} spec.request`,
                  },
                ],
                cause: 'The node name was empty when the request was made.',
                fix: [deleteRequest(name)],
                verify: watchRequests,
              },
        ),
    }),
  ],
}
