import { readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { createToken, restartKubelet } from '../commands.ts'

export const a10: Check = {
  meta: {
    id: 'A10',
    severity: 'critical',
    title: 'The node has a credential',
    failureTitle: 'The node has neither a valid client certificate nor a bootstrap kubeconfig',
    symptom:
      'The kubelet stops at once: "unable to load bootstrap kubeconfig". `kubeadm certs renew all` does not help.',
    description:
      'kubeadm deletes the bootstrap kubeconfig after the join. A node that was off for longer than its certificate lives, or that lost its pki folder, then has nothing left to ask with.',
    remedy: 'Make a bootstrap kubeconfig with a new token and put it on the node.',
    explains: ['E11'],
    reports: ['kubernetes/kubeadm#2054', 'kubernetes/kubernetes#107489', 'kubernetes/kubernetes#102556'],
  },
  views: [
    view({
      requiredArtifacts: ['kubeconfig', 'bootstrapKubeconfig'],
      audit({ kubeconfig, bootstrapKubeconfig }, now) {
        if (!bootstrapKubeconfig.missing) return []
        const [held] = readBundle(kubeconfig.certificate ?? '').certificates
        const other = kubeconfig.credential === 'token' || kubeconfig.credential === 'exec'
        if (other || (held && now <= held.notAfter)) return []
        const value = held
          ? 'its client certificate has expired'
          : (kubeconfig.problem ?? 'it leads to no client certificate')
        return [
          {
            object: bootstrapKubeconfig.path,
            everywhere: true,
            evidence: [
              { value: 'does not exist', source: bootstrapKubeconfig.path },
              { value, source: kubeconfig.path },
            ],
            cause:
              'What the node held has lapsed or is lost, and nothing is left to ask for a new certificate with.',
            fix: [createToken, restartKubelet],
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}
