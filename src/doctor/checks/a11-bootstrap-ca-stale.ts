import { shellWord } from '../../survey/explanation.ts'
import { verifyChain } from '../../x509/certificate.ts'
import { describe, readBundle, readChain } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { createToken } from '../commands.ts'

export const a11: Check = {
  meta: {
    id: 'A11',
    severity: 'critical',
    title: 'The bootstrap kubeconfig trusts the CA of the API server',
    failureTitle: 'The bootstrap kubeconfig trusts another CA than that of the API server',
    symptom: 'The node never joins: "x509: certificate signed by unknown authority" while it bootstraps.',
    description:
      'Verifies what the API server presents against the CA in the bootstrap kubeconfig. Images and cloud-init data that were made before the CA was changed hand the old one on.',
    remedy: 'Put the present CA bundle into the bootstrap kubeconfig, and into what it is made from.',
    explains: ['A12'],
    reports: ['okd-project/okd#1881', 'kubernetes/kubeadm#2027'],
  },
  views: [
    view({
      requiredArtifacts: ['bootstrapKubeconfig', 'apiServing'],
      audit({ bootstrapKubeconfig: { path, server, certificateAuthority }, apiServing }, now) {
        const chain = readChain(apiServing.chain).certificates
        const [leaf] = chain
        if (certificateAuthority === undefined || !leaf || !isServer(server, apiServing)) return []
        // An expired leaf is A20, whoever signed it.
        if (now > leaf.notAfter || now < leaf.notBefore) return []
        const roots = readBundle(certificateAuthority).certificates
        const verdict = verifyChain(chain, roots, { now, usage: 'serverAuth' })
        if (verdict.ok) return []
        return [
          {
            object: path,
            evidence: [
              {
                value: roots.map(describe).join('; ') || 'no certificate',
                source: `${path} certificate-authority`,
              },
              {
                value: `${describe(leaf)}: ${verdict.reason}`,
                source: `served at ${apiServing.host}:${apiServing.port}`,
              },
            ],
            cause: 'The bootstrap kubeconfig was made before the CA was changed.',
            fix: [
              createToken,
              { run: `cp bootstrap-kubelet.conf ${shellWord(path)}`, purpose: 'on the node' },
            ],
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}

/** What was looked at is the server of the kubelet's kubeconfig where it has one. */
function isServer(server: string | undefined, { host, port }: { host: string; port: number }): boolean {
  const url = server === undefined ? null : URL.parse(server)
  return url?.hostname.replace(/^\[|\]$/g, '') === host && Number(url.port || 443) === port
}
