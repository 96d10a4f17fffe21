import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { deleteRequest, watchRequests } from '../commands.ts'

export const b04: Check = {
  meta: {
    id: 'B04',
    severity: 'critical',
    title: 'Node names in requests are lower case',
    failureTitle: 'A node asks for a name with upper-case letters',
    symptom: 'The node authorizer refuses the node everything, or its Node never appears.',
    description:
      'The name of a Node is lower case, so a certificate for `system:node:NODE-A` is for nobody. It comes from a host name in upper case or from --hostname-override.',
    remedy: 'Give the host a lower-case name, or set --hostname-override, and remove the request.',
    explains: ['C04', 'C05', 'C10', 'B14'],
    reports: ['openshift/microshift#1449', 'canonical/microk8s#3270'],
  },
  views: [
    view({
      requiredArtifacts: ['requests'],
      audit: ({ requests }) =>
        requests.flatMap(({ kind, asked, name, newest, state }) => {
          if (!kind || !newest || !asked.ok || state === 'denied') return []
          const subject = asked.value.commonName
          if (!subject.startsWith('system:node:') || subject === subject.toLowerCase()) return []
          return {
            object: `CertificateSigningRequest ${name}`,
            node: subject.slice('system:node:'.length),
            evidence: [
              { value: `subject CN=${subject}`, source: `CertificateSigningRequest ${name} spec.request` },
            ],
            cause: 'The host name of the node has upper-case letters.',
            fix: [
              {
                run: `hostnamectl hostname ${shellWord(subject.slice('system:node:'.length).toLowerCase())}`,
                purpose: 'on the node; then restart its kubelet',
              },
              deleteRequest(name),
            ],
            verify: watchRequests,
          }
        }),
    }),
  ],
}
