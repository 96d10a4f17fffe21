import { shellWord } from '../../survey/explanation.ts'
import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'

export const i10: Check = {
  meta: {
    id: 'I10',
    severity: 'warning',
    title: 'Published bundles are plain PEM',
    failureTitle: 'A published bundle holds what some parsers refuse',
    symptom: 'Some clients trust the API server and others, by the same bundle, do not.',
    description:
      'A byte order mark, carriage returns, text between the certificates, or more than half a megabyte in kube-root-ca.crt: what becomes of it depends on the parser.',
    remedy: 'Write the certificates alone, one PEM block after the other.',
  },
  views: [
    view({
      requiredArtifacts: ['rootCertificates'],
      audit: ({ rootCertificates }) =>
        rootCertificates.flatMap(({ namespace, oddities = [] }) =>
          oddities.length === 0
            ? []
            : [
                {
                  object: `ConfigMap ${namespace}/kube-root-ca.crt`,
                  evidence: oddities.map(value => ({
                    value,
                    source: `ConfigMap ${namespace}/kube-root-ca.crt data ca.crt`,
                  })),
                  cause: 'The file that it was made from was put together by hand or by an editor.',
                  fix: [
                    {
                      run: `kubectl -n ${shellWord(namespace)} delete configmap kube-root-ca.crt`,
                      purpose: 'its controller makes it again; correct --root-ca-file where it comes back so',
                    },
                  ],
                  verify: runDoctor,
                },
              ],
        ),
    }),
  ],
}
