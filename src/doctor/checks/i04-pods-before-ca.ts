import { shellWord } from '../../survey/explanation.ts'
import { verifyChain } from '../../x509/certificate.ts'
import { readBundle, readChain } from '../certificates.ts'
import { type Check, view } from '../check.ts'

export const i04: Check = {
  meta: {
    id: 'I04',
    severity: 'warning',
    title: 'Pods were started after the newest CA was made',
    failureTitle: 'Pods run that were started before the newest CA was made',
    symptom: 'Old pods end with "unknown authority", new ones of the same image work.',
    description:
      'Many programs read their CA file once. While the published bundle holds several CAs, lists the pods that are older than the newest of them. Critical where the API already presents a certificate that the older CAs do not vouch for.',
    remedy:
      'Restart them before the API is switched to the new CA; at the latest before the old one is dropped.',
    reports: ['rancher/rancher#25858'],
  },
  views: [
    view({
      requiredArtifacts: ['podsBeforeCa', 'rootCertificates'],
      optionalArtifacts: ['apiServing'],
      audit({ podsBeforeCa: { notBefore, pods }, rootCertificates, apiServing }, now) {
        const roots = [...new Set(rootCertificates.flatMap(({ pem }) => pem ?? []))].flatMap(
          pem => readBundle(pem).certificates,
        )
        const older = roots.filter(root => root.notBefore < Date.parse(notBefore))
        const chain = readChain(apiServing?.chain ?? []).certificates
        const switched = chain.length > 0 && !verifyChain(chain, older, { now, usage: 'serverAuth' }).ok
        return [...Map.groupBy(pods, ({ namespace }) => namespace)].map(([namespace, of]) => ({
          object: `Namespace ${namespace}`,
          ...(switched && { severity: 'critical' as const }),
          evidence: [
            {
              value: `${of.length} pods, e.g. ${of
                .slice(0, 3)
                .map(({ name, started }) => `${name} since ${started}`)
                .join(', ')}`,
              source: `Pods of namespace ${namespace} status.startTime`,
            },
            {
              value: `made at ${notBefore}`,
              source: 'newest CA in kube-root-ca.crt',
            },
          ],
          cause: switched
            ? 'The API presents a certificate of a CA that these pods may not have read.'
            : 'These pods may have read the CA bundle before the newest CA was in it.',
          fix: [
            {
              run: `kubectl -n ${shellWord(namespace)} rollout restart deployment,statefulset,daemonset`,
              purpose: 'starts all of them anew, a few at a time',
            },
          ],
          verify: { run: 'rollcall doctor', purpose: 'finds no pod that is older any more' },
        }))
      },
    }),
  ],
}
