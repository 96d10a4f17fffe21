import type { Certificate } from '../x509/certificate.ts'
import type { NodeProbe } from './artifacts/endpoint-artifacts.ts'
import { readChain } from './certificates.ts'

/** Leaf that the node presented; undefined where there was no handshake. */
function probedLeaf({ chain }: NodeProbe): Certificate | undefined {
  return readChain(chain).certificates[0]
}

/** `served by 10.0.0.11:10250`, for evidence. */
export const probedAt = ({ host, port }: NodeProbe) => `served at ${host}:${port}`

/** Probes that got a certificate, with its leaf. */
export function probedLeaves(probes: readonly NodeProbe[]): { probe: NodeProbe; leaf: Certificate }[] {
  return probes.flatMap(probe => {
    const leaf = probedLeaf(probe)
    return leaf ? [{ probe, leaf }] : []
  })
}
