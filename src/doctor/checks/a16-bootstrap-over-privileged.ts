import { commonName, organizations } from '../../x509/name.ts'
import { readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { createToken } from '../commands.ts'

const administrators = ['system:masters', 'kubeadm:cluster-admins']

export const a16: Check = {
  meta: {
    id: 'A16',
    severity: 'warning',
    title: 'The bootstrap credential can do nothing but ask',
    failureTitle: 'The bootstrap credential may do far more than ask for a certificate',
    symptom: 'Nobody notices: whoever reads the file on the node owns the cluster.',
    description: 'The bootstrap kubeconfig holds the client certificate of an administrator.',
    remedy: 'Use a bootstrap token or a credential plugin; the certificate that lay there cannot be revoked.',
  },
  views: [
    view({
      requiredArtifacts: ['bootstrapKubeconfig'],
      audit({ bootstrapKubeconfig: { path, certificate } }) {
        const [held] = readBundle(certificate ?? '').certificates
        const groups = held ? organizations(held.subject).filter(group => administrators.includes(group)) : []
        if (!held || groups.length === 0) return []
        return [
          {
            object: path,
            evidence: [{ value: `CN=${commonName(held.subject)} in ${groups.join(', ')}`, source: path }],
            cause: 'The kubeconfig of an administrator was copied to the node.',
            fix: [createToken],
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}
