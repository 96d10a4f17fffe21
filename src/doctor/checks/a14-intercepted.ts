import { type Certificate, verifyChain } from '../../x509/certificate.ts'
import { formatName } from '../../x509/name.ts'
import type { Served } from '../artifacts/endpoint-artifacts.ts'
import { describe, readBundle, readChain } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { showServed } from '../commands.ts'

export const a14: Check = {
  meta: {
    id: 'A14',
    severity: 'warning',
    title: 'The API server itself answers at its address',
    failureTitle: 'A proxy or load balancer answers for the API server with a certificate of its own',
    symptom: '"unknown authority" with an issuer nobody knows; client certificates do not get through.',
    description:
      'Each API server by its own address presents a certificate of the published CA, and the address in the kubeconfig one of another: something in between ends TLS, and a client certificate ends there too.',
    remedy: 'Pass TLS through (a TCP load balancer), or take the inspecting proxy out of the way (NO_PROXY).',
    explains: ['I01', 'I05', 'A11'],
  },
  views: [
    view({
      requiredArtifacts: ['apiServing', 'apiServers', 'rootCertificates'],
      audit({ apiServing, apiServers, rootCertificates }, now) {
        const roots = [...new Set(rootCertificates.flatMap(({ pem }) => pem ?? []))].flatMap(
          pem => readBundle(pem).certificates,
        )
        const direct = apiServers.filter(({ chain }) => chain.length > 0)
        const [leaf] = readChain(apiServing.chain).certificates
        if (!leaf || direct.length === 0 || chains(apiServing, roots, now)) return []
        if (!direct.every(server => chains(server, roots, now))) return []
        const [server] = direct
        const [own] = readChain(server?.chain ?? []).certificates
        return [
          {
            object: `${apiServing.host}:${apiServing.port}`,
            everywhere: true,
            evidence: [
              {
                value: `${describe(leaf)}, issuer ${formatName(leaf.issuer)}`,
                source: `served at ${apiServing.host}:${apiServing.port}`,
              },
              {
                value: `issuer ${own ? formatName(own.issuer) : ''}`,
                source: `served at ${server?.host}:${server?.port}`,
              },
            ],
            cause: 'What answers at this address is none of the API servers.',
            fix: [
              showServed(apiServing.host, apiServing.port),
              { run: 'env | grep -i _proxy', purpose: 'is the address in NO_PROXY?' },
            ],
            verify: { run: 'rollcall doctor', purpose: 'finds it no more' },
          },
        ]
      },
    }),
  ],
}

function chains({ chain }: Served, roots: readonly Certificate[], now: number): boolean {
  return verifyChain(readChain(chain).certificates, roots, { now, usage: 'serverAuth' }).ok
}
