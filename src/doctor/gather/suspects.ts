import { isIssued } from '../../kube/csr-conditions.ts'
import { type CertificateSigningRequest, type KubeNode, signerNames } from '../../kube/types.ts'
import { nodeOfUser } from '../../survey/node-identity.ts'
import type { NodeProbe } from '../artifacts/endpoint-artifacts.ts'

/** Nodes that are probed at most: one that is off takes five seconds. */
export const mostProbes = 50

/**
 * The nodes to probe: first those whose requests for a serving certificate were not issued, then those that are not Ready,
 * then those that were not looked at lately, or did not answer then.
 */
export function suspects(
  nodes: readonly KubeNode[],
  requests: readonly CertificateSigningRequest[],
  surveyed: readonly NodeProbe[] = [],
): KubeNode[] {
  const answered = new Set(surveyed.flatMap(({ node, failure }) => (failure === undefined ? [node] : [])))
  const waiting = new Set(
    requests
      .filter(csr => csr.spec.signerName === signerNames.kubeletServing && !isIssued(csr))
      .map(({ spec }) => nodeOfUser(spec.username)),
  )
  const suspicion = ({ metadata: { name }, status }: KubeNode) => {
    const ready = status?.conditions?.find(({ type }) => type === 'Ready')
    return (
      (waiting.has(name) ? 4 : 0) + (ready && ready.status !== 'True' ? 2 : 0) + (answered.has(name) ? 0 : 1)
    )
  }
  return [...nodes].sort((a, b) => suspicion(b) - suspicion(a)).slice(0, mostProbes)
}
