import { formatAge, formatTime } from '../../kube/time-format.ts'
import { signerNames } from '../../kube/types.ts'
import { CONTROLLER_PATIENCE } from '../../survey/csr-facts.ts'
import { type Check, view } from '../check.ts'
import { showRequest, watchRequests } from '../commands.ts'
import { leaseLines } from '../lease-lines.ts'

const ofKubernetes: readonly string[] = Object.values(signerNames)

export const d01: Check = {
  meta: {
    id: 'D01',
    severity: 'critical',
    title: 'Approved requests are signed',
    failureTitle: 'Approved requests are not signed',
    symptom: 'Requests show "Approved" and never "Approved,Issued"; nodes ask again every 15 minutes.',
    description:
      'The request was approved more than a minute ago and has neither certificate nor failure. A signer that cannot sign says so nowhere in the API: kube-controller-manager without --cluster-signing-cert-file, with two certificates in it, or with a key that does not match, logs a line and tries again.',
    remedy:
      'Start kube-controller-manager with the signing files of this signer, or run `rollcall controller` with them.',
    explains: ['G01', 'B14', 'E18'],
    reports: ['kubernetes/kubernetes#132947', 'aws/containers-roadmap#1604'],
  },
  views: [
    view({
      requiredArtifacts: ['canary'],
      audit: ({ canary: { request, ended, took, message } }) =>
        ended !== 'unsigned' && ended !== 'failed'
          ? []
          : [
              {
                object: `CertificateSigningRequest ${request}`,
                evidence: [
                  {
                    value: `${ended} after ${formatAge(took)}${message === undefined ? '' : `, ${message}`}`,
                    source: 'the canary: a renewal asked for as system:node:rollcall-canary',
                  },
                ],
                cause: `No signer for ${signerNames.kubeletClient} signs.`,
                fix: [
                  {
                    run: 'rollcall controller --only signing --signing-cert ca.crt --signing-key ca.key',
                    purpose:
                      'signs; or set --cluster-signing-cert-file and --cluster-signing-key-file of kube-controller-manager',
                  },
                ],
                verify: { run: 'rollcall doctor --canary', purpose: 'finds nothing any more' },
              },
            ],
    }),
    view({
      requiredArtifacts: ['requests'],
      optionalArtifacts: ['controllerLeases', 'events'],
      audit: ({ requests, controllerLeases, events }, now) =>
        requests
          .filter(({ state, csr }) => state === 'unsigned' && ofKubernetes.includes(csr.spec.signerName))
          .filter(
            ({ newest, decided, created }) => newest && now - (decided ?? created) > CONTROLLER_PATIENCE,
          )
          .map(({ name, node, csr, decided, created }) => ({
            object: `CertificateSigningRequest ${name}`,
            ...(node !== undefined && { node }),
            evidence: [
              {
                value: `approved ${formatAge(now - (decided ?? created))} ago, no certificate`,
                source: `CertificateSigningRequest ${name} status`,
                at: formatTime(decided ?? created),
              },
              ...leaseLines(controllerLeases, now),
              ...(events ?? [])
                .filter(({ involvedObject }) => involvedObject.name === name)
                .map(({ reason, message, lastTimestamp }) => ({
                  value: `${reason}: ${message}`,
                  source: `Event about ${name}`,
                  ...(lastTimestamp && { at: lastTimestamp }),
                })),
            ],
            cause: `No signer for ${csr.spec.signerName} signs.`,
            fix: [
              {
                run: 'rollcall controller --only signing --signing-cert ca.crt --signing-key ca.key',
                purpose:
                  'signs; or set --cluster-signing-cert-file and --cluster-signing-key-file of kube-controller-manager',
              },
              showRequest(name),
            ],
            verify: watchRequests,
          })),
    }),
  ],
}
