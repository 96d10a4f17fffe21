import {
  type Certificate,
  parseCertificate,
  parseCertificatesPem,
  verifyChain,
} from '../../x509/certificate.ts'
import { verifyHostname } from '../../x509/hostname.ts'
import { commonName } from '../../x509/name.ts'
import type { KubeletAddress } from './kubelet-address.ts'

const nodePrefix = 'system:node:'
/** As kubeadm names an API server's own certificate. A Node may name any address, and that one is no kubelet's. */
const apiServer = 'kube-apiserver'

/**
 * Why the certificate chain (DER, leaf first) that a kubelet shows at `now` is not good for its address; undefined: it
 * is. Go's texts and order: validity, then the name, then the chain (H-6). Beyond Kubernetes' default, and as its
 * --kubelet-validate-node-name: a certificate that was issued to another node, or to an API server, is refused although
 * its address fits.
 */
export function whyNotServing(
  presented: readonly Uint8Array[],
  authority: string,
  { host, node }: KubeletAddress,
  now: number,
): string | undefined {
  let chain: Certificate[]
  try {
    chain = presented.map(parseCertificate)
  } catch (error) {
    return `x509: ${error instanceof Error ? error.message : String(error)}`
  }
  const [leaf] = chain
  if (!leaf) return 'x509: no certificate'
  const verdict = verifyChain(chain, parseCertificatesPem(authority), { now, usage: 'serverAuth' })
  const name = verifyHostname(leaf, host)
  const timely = now >= leaf.notBefore && now <= leaf.notAfter
  if (timely && !name.ok) return name.reason
  if (!verdict.ok) return verdict.reason
  if (!name.ok) return name.reason
  const subject = commonName(leaf.subject)
  const ofOther = subject.startsWith(nodePrefix) && subject !== `${nodePrefix}${node}`
  if (!ofOther && subject !== apiServer) return undefined
  return `x509: certificate is for ${JSON.stringify(subject)}, not ${JSON.stringify(`${nodePrefix}${node}`)}`
}
