import { formatAge, formatTime } from '../../kube/time-format.ts'
import type { Certificate } from '../../x509/certificate.ts'
import { readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { createToken, restartKubelet, showNode } from '../commands.ts'
import { latestIssued } from '../node-certificates.ts'
import { aliveNodes } from '../node-lease.ts'

export const e11: Check = {
  meta: {
    id: 'E11',
    severity: 'critical',
    title: 'Client certificates of nodes are valid',
    failureTitle: 'The client certificate of a node has expired',
    symptom:
      'The node is NotReady; its kubelet logs "client certificate has expired" or gets 401 for everything.',
    description:
      'The node was off for longer than the certificate lives, or its renewals failed. In the cluster it shows as an expired certificate of a node whose Lease stopped; on the node in the kubeconfig and in current.pem.',
    remedy: 'Give the node a bootstrap kubeconfig with a new token; it asks for a certificate by itself.',
    explains: ['Z07', 'E18', 'G01', 'G07'],
    reports: [
      'kubernetes/kubernetes#65991',
      'kubernetes/kubernetes#78758',
      'kubernetes/kubernetes#96256',
      'kubernetes/kubernetes#102556',
    ],
  },
  views: [
    view({
      requiredArtifacts: ['requests', 'nodes', 'nodeLeases'],
      audit({ requests, nodes, nodeLeases }, now) {
        const alive = aliveNodes(nodeLeases, now)
        const known = new Set(nodes.map(({ metadata }) => metadata.name))
        return latestIssued(requests, 'client')
          .filter(
            ({ node, certificate }) => known.has(node) && !alive.has(node) && now > certificate.notAfter,
          )
          .map(({ node, certificate, request }) => ({
            ...expired(certificate, `CertificateSigningRequest ${request.name} status.certificate`, now),
            object: `Node ${node}`,
            node,
            verify: showNode(node),
          }))
      },
    }),
    view({
      requiredArtifacts: ['kubeconfig'],
      audit({ kubeconfig: { path, certificate, certificateFile } }, now) {
        const [held] = readBundle(certificate ?? '').certificates
        if (!held || now <= held.notAfter) return []
        return [
          {
            ...expired(held, certificateFile ?? path, now),
            object: certificateFile ?? path,
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}

function expired({ notAfter }: Pick<Certificate, 'notAfter'>, source: string, now: number) {
  return {
    evidence: [{ value: `expired ${formatTime(notAfter)}, ${formatAge(now - notAfter)} ago`, source }],
    cause: 'It was not renewed before it ended; the API takes it no more.',
    fix: [createToken, restartKubelet],
  }
}
