import { shellWord } from '../../survey/explanation.ts'
import { verifyChain } from '../../x509/certificate.ts'
import { verifyHostname } from '../../x509/hostname.ts'
import { describe, readBundle, readChain } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { restartKubelet } from '../commands.ts'

export const i02: Check = {
  meta: {
    id: 'I02',
    severity: 'critical',
    title: 'The kubeconfig trusts the API server',
    failureTitle: 'The kubeconfig holds a CA that the API server does not chain to',
    symptom:
      'The kubelet goes on as long as its connections live; after a restart it ends with "unknown authority".',
    description:
      'A kubelet writes the CA into its kubeconfig once, at its bootstrap, and nothing refreshes it. After a rotation of the CA the first restart locks the node out. The kubeconfigs of administrators grow stale in the same way.',
    remedy: 'Put the present CA bundle into the kubeconfig and restart the kubelet.',
    explains: ['A01'],
    reports: ['okd-project/okd#1881', 'clastix/kamaji#315', 'kubernetes/kubeadm#2027'],
  },
  views: [
    view({
      requiredArtifacts: ['kubeconfig', 'apiServing'],
      audit({ kubeconfig, apiServing }, now) {
        const roots = readBundle(kubeconfig.certificateAuthority ?? '').certificates
        const chain = readChain(apiServing.chain).certificates
        const [leaf] = chain
        if (!kubeconfig.certificateAuthority || !leaf || now > leaf.notAfter || now < leaf.notBefore)
          return []
        const verdict = verifyChain(chain, roots, { now, usage: 'serverAuth' })
        if (verdict.ok) return []
        return [
          {
            object: kubeconfig.path,
            evidence: [
              {
                value: roots.map(describe).join('; ') || 'no certificate',
                source: `${kubeconfig.path} certificate-authority`,
              },
              {
                value: `${describe(leaf)}: ${verdict.reason}`,
                source: `served at ${apiServing.host}:${apiServing.port}`,
              },
            ],
            cause: 'The CA of the API server was changed after the node wrote its kubeconfig.',
            fix: [
              {
                run: `kubectl config --kubeconfig ${shellWord(kubeconfig.path)} set-cluster default-cluster --embed-certs --certificate-authority=/etc/kubernetes/pki/ca.crt`,
                purpose: 'on the node; take the name of the cluster from the kubeconfig',
              },
              restartKubelet,
            ],
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
    view({
      requiredArtifacts: ['apiAnswer', 'apiServing'],
      audit({ apiAnswer: { server, trouble }, apiServing: { chain, host, port } }, now) {
        const [leaf] = readChain(chain).certificates
        if (trouble?.kind !== 'untrusted' || !leaf) return []
        // What has ended is A20, another name A13.
        if (now > leaf.notAfter || now < leaf.notBefore || !verifyHostname(leaf, host).ok) return []
        return [
          {
            object: 'the kubeconfig in use',
            everywhere: true,
            evidence: [
              { value: describe(leaf), source: `served at ${host}:${port}` },
              { value: trouble.message, source: `GET ${server}/version` },
            ],
            cause: 'The kubeconfig in use trusts another CA than that of the API server.',
            fix: [
              {
                run: `rollcall certs show ${shellWord(`${host}:${port}`)}`,
                purpose: 'is this your cluster? Then put its CA into certificate-authority-data',
              },
              { run: 'kubectl config view', purpose: 'which kubeconfig and context are in use?' },
            ],
            verify: { run: 'rollcall doctor', purpose: 'finds it no more' },
          },
        ]
      },
    }),
  ],
}
