import { shellWord } from '../../survey/explanation.ts'
import { formatName } from '../../x509/name.ts'
import { readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { untrustedLeaves } from '../untrusted-leaves.ts'

export const i06: Check = {
  meta: {
    id: 'I06',
    severity: 'critical',
    title: 'No CA was retired while its certificates are in use',
    failureTitle: 'A rotation retired a CA whose certificates are still in use',
    symptom: 'Nodes get 401 from the moment at which the old CA was dropped.',
    description:
      'A CARotation of the client CA has dropped the old CA, and nodes hold certificates that the API does not trust: they were not renewed, were excluded, or it was an emergency.',
    remedy:
      'Roll back while that is possible, or bootstrap these nodes anew; then let nobody skip the gates.',
    explains: ['E14'],
  },
  views: [
    view({
      requiredArtifacts: ['rotations', 'requests', 'clientTrust'],
      audit({ rotations, requests, clientTrust }, now) {
        const [rotation] = rotations.filter(({ role, phase }) => role === 'client' && dropped.has(phase))
        const stranded = rotation ? untrustedLeaves(requests, readBundle(clientTrust).certificates, now) : []
        const [first] = stranded
        if (!rotation || !first) return []
        const { name, from, phase } = rotation
        return [
          {
            object: `CARotation ${name}`,
            everywhere: true,
            evidence: [
              {
                value: `CA client ${from} is dropped, phase ${phase}`,
                source: `CARotation ${name} status.phase`,
              },
              ...stranded.slice(0, 3).map(({ node, certificate, request, reason }) => ({
                value: `Node ${node}, issuer ${formatName(certificate.issuer)}: ${reason}`,
                source: `CertificateSigningRequest ${request.name} status.certificate`,
              })),
            ],
            cause: `The CA was dropped while the certificates of ${stranded.length} nodes are of it.`,
            fix: [
              {
                run: `rollcall ca rollback ${shellWord(name)}`,
                purpose: 'gives the old CA back, unless the rotation is over',
              },
              {
                run: `rollcall node rebootstrap ${shellWord(first.node)}`,
                purpose: 'a new credential for a node; each of them, where there is no way back',
              },
            ],
            verify: { run: 'rollcall doctor', purpose: 'finds it no more' },
          },
        ]
      },
    }),
  ],
}

const dropped: ReadonlySet<string> = new Set([
  'DistrustingServers',
  'DistrustingConsumers',
  'Done',
  'EmergencyDistrust',
  'EmergencySwitch',
  'EmergencyReissue',
])
