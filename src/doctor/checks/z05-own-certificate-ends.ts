import { formatAge } from '../../kube/time-format.ts'
import type { Command } from '../../survey/explanation.ts'
import type { ApiAnswer } from '../artifacts/endpoint-artifacts.ts'
import { describe, readBundle, usedLife } from '../certificates.ts'
import { type Check, view } from '../check.ts'

export const z05: Check = {
  meta: {
    id: 'Z05',
    severity: 'warning',
    title: 'Our own credential is accepted, and good for a while',
    failureTitle: 'The credential in use here ends soon, or is not accepted',
    symptom: 'The operator is locked out at the worst moment.',
    description:
      'More than nine tenths of the life of the client certificate in this kubeconfig are over, or the API answers 401 to what it holds.',
    remedy: 'Renew the kubeconfig.',
    reports: ['kubernetes/kops#12032'],
  },
  views: [
    view({
      requiredArtifacts: ['ownCertificate'],
      optionalArtifacts: ['apiAnswer'],
      audit({ ownCertificate, apiAnswer }, now) {
        const [own] = readBundle(ownCertificate).certificates
        if (!own || usedLife(own, now) < 0.9) return []
        const left = own.notAfter - now
        const ended = left < 0
        return [
          {
            object: 'our own client certificate',
            ...(ended && isRefused(apiAnswer) && { severity: 'critical' as const }),
            evidence: [{ value: describe(own), source: 'the kubeconfig in use' }],
            cause: ended ? `It ended ${formatAge(-left)} ago.` : `It ends in ${formatAge(left)}.`,
            fix,
            verify,
          },
        ]
      },
    }),
    view({
      requiredArtifacts: ['apiAnswer'],
      optionalArtifacts: ['ownCertificate'],
      audit({ apiAnswer, ownCertificate }, now) {
        const [own] = readBundle(ownCertificate ?? '').certificates
        // An end that is over says more.
        if (!isRefused(apiAnswer) || (own && now > own.notAfter)) return []
        return [
          {
            object: 'our own credential',
            severity: 'critical',
            evidence: [
              { value: apiAnswer.trouble?.message ?? '', source: `GET ${apiAnswer.server}/version` },
            ],
            cause:
              'The API does not accept the credential of this kubeconfig: another cluster, or an old one.',
            fix: [
              { run: 'kubectl config view', purpose: 'which kubeconfig and context are in use?' },
              ...fix,
            ],
            verify,
          },
        ]
      },
    }),
  ],
}

const isRefused = (answer: ApiAnswer | undefined) => answer?.trouble?.kind === 'refused'

const fix: Command[] = [
  {
    run: 'kubeadm certs renew admin.conf',
    purpose: 'on a control-plane node; rollcall up renews its own at each start',
  },
]
const verify: Command = { run: 'kubectl auth whoami', purpose: 'is answered' }
