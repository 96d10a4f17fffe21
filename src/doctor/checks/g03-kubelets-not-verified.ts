import { type Check, view } from '../check.ts'
import { runDoctor } from '../commands.ts'

const flag = 'kubelet-certificate-authority'

export const g03: Check = {
  meta: {
    id: 'G03',
    severity: 'warning',
    title: 'The API server verifies the kubelets that it calls',
    failureTitle: 'The API server does not verify the kubelets that it calls',
    symptom: 'None: logs and exec work, also with whoever has taken the address of a node.',
    description:
      "Without --kubelet-certificate-authority, kubeadm's default, kube-apiserver takes any serving certificate of a kubelet. Serving certificates of the cluster are there for it to be set.",
    remedy:
      'When `rollcall doctor --probe` finds every node with a certificate of the cluster, set the flag.',
  },
  views: [
    view({
      requiredArtifacts: ['controlPlane'],
      audit: ({ controlPlane }) =>
        controlPlane
          .filter(({ program, flags }) => program === 'kube-apiserver' && flags[flag] === undefined)
          .map(({ pod }) => ({
            object: `Pod kube-system/${pod}`,
            evidence: [{ value: 'not there', source: `${pod} --${flag}` }],
            cause: `kube-apiserver runs without --${flag}.`,
            fix: [
              {
                run: 'rollcall doctor --probe',
                purpose: 'first: does every node serve a certificate of the cluster?',
              },
              {
                run: "sed -i '/- kube-apiserver$/a\\    - --kubelet-certificate-authority=/etc/kubernetes/pki/ca.crt' /etc/kubernetes/manifests/kube-apiserver.yaml",
                purpose: 'then, on each control-plane node',
              },
            ],
            verify: runDoctor,
          })),
    }),
  ],
}
