import type { Certificate } from '../x509/certificate.ts'
import type { ArtifactName } from './artifacts/artifacts.ts'
import type { NodeProbe } from './artifacts/endpoint-artifacts.ts'
import { readChain } from './certificates.ts'

/** Leaf that the node presented; undefined where there was no handshake. */
function probedLeaf({ chain }: NodeProbe): Certificate | undefined {
  return readChain(chain).certificates[0]
}

/** Where and, unless just now, when it was seen, for evidence. */
export const probedAt = ({ host, port, at }: NodeProbe) => ({
  source: `served at ${host}:${port}`,
  ...(at !== undefined && { at }),
})

/** The same of a handshake that failed. */
export const dialledAt = ({ host, port, at }: NodeProbe) => ({
  source: `TLS handshake with ${host}:${port}`,
  ...(at !== undefined && { at }),
})

/** Probes that got a certificate, with its leaf. */
export function probedLeaves(probes: readonly NodeProbe[]): { probe: NodeProbe; leaf: Certificate }[] {
  return probes.flatMap(probe => {
    const leaf = probedLeaf(probe)
    return leaf ? [{ probe, leaf }] : []
  })
}

/** No connection: what the kubelet presents, nobody knows. One that answers and has no certificate is known. */
export function isUnreachable({ failure }: Pick<NodeProbe, 'failure'>): boolean {
  return failure !== undefined && !/internal.error|alert/i.test(failure)
}

/** For views of what nodes present: they say nothing of nodes that did not answer. */
export function unanswered({ probes }: { probes: readonly NodeProbe[] }): readonly ArtifactName[] {
  return probes.some(probe => probe.chain.length === 0 && isUnreachable(probe)) ? ['probes'] : []
}
