import { type Check, view } from '../check.ts'

export const g09: Check = {
  meta: {
    id: 'G09',
    severity: 'warning',
    title: 'The API server uses its renewed client certificate at once',
    failureTitle: 'This version of kube-apiserver keeps using its former client certificate for logs',
    symptom:
      '`kubectl logs` ends with 401 while `kubectl exec` works, after apiserver-kubelet-client was renewed.',
    description:
      'Before 1.26.2 kube-apiserver read its renewed client certificate, and went on with connections to kubelets that it had opened with the former one.',
    remedy: 'Upgrade; until then restart kube-apiserver whenever its client certificate was renewed.',
    reports: ['kubernetes/kubernetes#114588', 'kubernetes/kubernetes#115315'],
  },
  views: [
    view({
      requiredArtifacts: ['apiAnswer'],
      audit({ apiAnswer: { version = '', server } }) {
        const [, major, minor, patch] = /^v?(\d+)\.(\d+)\.(\d+)/.exec(version) ?? []
        if (major !== '1' || Number(minor) > 26 || (minor === '26' && Number(patch) >= 2)) return []
        return [
          {
            object: `API server ${server}`,
            evidence: [{ value: version, source: `GET ${server}/version` }],
            cause: 'Its connections to kubelets outlive the certificate that they were opened with.',
            fix: [
              {
                run: 'crictl pods --name kube-apiserver -q | xargs crictl stopp',
                purpose: 'on each control-plane node, after each renewal; the kubelet starts it again',
              },
            ],
            verify: { run: 'kubectl version', purpose: 'shows 1.26.2 or newer' },
          },
        ]
      },
    }),
  ],
}
