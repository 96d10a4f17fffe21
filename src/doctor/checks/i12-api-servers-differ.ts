import { sha256Hex } from '../../x509/fingerprint.ts'
import type { Served } from '../artifacts/endpoint-artifacts.ts'
import { describe, readChain } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { runDoctor, showServed } from '../commands.ts'

export const i12: Check = {
  meta: {
    id: 'I12',
    severity: 'critical',
    title: 'All API servers present certificates of one CA',
    failureTitle: 'API servers present certificates of different CAs',
    symptom: 'Clients get "unknown authority" now and then, depending on where the load balancer leads them.',
    description:
      'Looks at each address of the Service kubernetes by itself, past the load balancer. New CA files were copied to some of the control-plane nodes only.',
    remedy: 'Bring the files of the CA to all control-plane nodes.',
  },
  views: [
    view({
      requiredArtifacts: ['apiServers'],
      audit({ apiServers }) {
        const byIssuer = Map.groupBy(
          apiServers.filter(({ chain }) => chain.length > 0),
          issuerOf,
        )
        if (byIssuer.size < 2) return []
        const [, ...fewer] = [...byIssuer.values()].sort((a, b) => b.length - a.length)
        return fewer.flat().map(server => ({
          object: `API server ${server.host}:${server.port}`,
          evidence: [...byIssuer.values()].flatMap(of =>
            of.slice(0, 2).map(each => ({
              value: readChain(each.chain).certificates.map(describe)[0] ?? 'unreadable',
              source: `served at ${each.host}:${each.port}, by CA key ${issuerOf(each)}`,
            })),
          ),
          cause: 'Control-plane nodes hold different CAs.',
          fix: [showServed(server.host, server.port)],
          verify: runDoctor,
        }))
      },
    }),
  ],
}

/** The key that issued the leaf: by the authority key identifier, else by the issuer's name. */
function issuerOf({ chain }: Served): string {
  const [leaf] = readChain(chain).certificates
  if (!leaf) return 'unreadable'
  const { authorityKeyIdentifier, issuer } = leaf
  return authorityKeyIdentifier
    ? Buffer.from(authorityKeyIdentifier).toString('hex').slice(0, 16)
    : sha256Hex(issuer.raw).slice(0, 16)
}
