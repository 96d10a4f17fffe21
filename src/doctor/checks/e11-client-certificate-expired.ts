import { formatAge, formatTime } from '../../kube/time-format.ts'
import { readBundle } from '../certificates.ts'
import { type Check, view } from '../check.ts'
import { createToken, restartKubelet, showNode } from '../commands.ts'
import type { Evidence } from '../finding.ts'
import { isUnknown, knownLives } from '../known-lives.ts'
import { aliveNodes, isAlive, nodeLease } from '../node-lease.ts'

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
      optionalArtifacts: ['ledgerLeaves'],
      audit({ nodeLeases, ...facts }, now) {
        const alive = aliveNodes(nodeLeases, now)
        return knownLives(facts)
          .filter(({ node, kind, notAfter }) => kind === 'client' && !alive.has(node) && now > notAfter)
          .map(({ node, notAfter, where }) => ({
            ...expired(notAfter, where, now),
            object: `Node ${node}`,
            node,
            verify: showNode(node),
          }))
      },
      // Who is alive holds one; who was never there has no Lease.
      unseen({ nodeLeases, ...facts }, now) {
        const there = new Set(facts.nodes.map(({ metadata }) => metadata.name))
        const silent = nodeLeases
          .map(nodeLease)
          .filter(lease => there.has(lease.node) && !isAlive(lease, now))
        const unknown = isUnknown(
          knownLives(facts),
          silent.map(({ node }) => node),
          'client',
        )
        return unknown ? ['ledgerLeaves'] : []
      },
    }),
    view({
      requiredArtifacts: ['kubeconfig'],
      audit({ kubeconfig: { path, certificate, certificateFile } }, now) {
        const [held] = readBundle(certificate ?? '').certificates
        if (!held || now <= held.notAfter) return []
        return [
          {
            ...expired(held.notAfter, { source: certificateFile ?? path }, now),
            object: certificateFile ?? path,
            verify: { run: 'rollcall doctor node', purpose: 'finds nothing any more' },
          },
        ]
      },
    }),
  ],
}

function expired(notAfter: number, where: Pick<Evidence, 'source' | 'at'>, now: number) {
  return {
    evidence: [{ value: `expired ${formatTime(notAfter)}, ${formatAge(now - notAfter)} ago`, ...where }],
    cause: 'It was not renewed before it ended; the API takes it no more.',
    fix: [createToken, restartKubelet],
  }
}
