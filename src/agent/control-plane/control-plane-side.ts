import { RollcallError } from '../../errors.ts'
import type { CertificateManager } from '../../hold/certificate-manager.ts'
import { loadSigner } from '../../keys/private-key.ts'
import { readTokenKey } from '../../keys/token-key.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { AgentOptions, AgentPorts } from '../agent-options.ts'
import { ControlPlane } from './control-plane.ts'

export interface ControlPlaneSideParts {
  options: AgentOptions
  ports: AgentPorts
  /** The API under the node's own certificate. */
  client: KubeClient
  certificate: CertificateManager
  onReport(): void
}

/** undefined: this node is none of a control plane, or is left alone. Throws USAGE. */
export function createControlPlane(parts: ControlPlaneSideParts): ControlPlane | undefined {
  const { options, ports, client, certificate, onReport } = parts
  const { controlPlane, nodeName, trustRootsPath: rootsPath } = options
  const { net, processes } = ports
  if (!controlPlane) return undefined
  if (rootsPath === undefined)
    throw new RollcallError(
      'USAGE',
      '--control-plane: without --trust-roots nobody could say which CA may be taken; give both.',
    )
  if (!net || !processes)
    throw new RollcallError('USAGE', '--control-plane: its processes cannot be seen here.')
  return new ControlPlane(
    { ...controlPlane, nodeName, rootsPath },
    { ...ports, net, processes },
    { client, onReport, identity: () => identityOf(certificate) },
  )
}

/** What the sealing key is signed with; a key in a token signs nothing here, so that no CA key can be sent to such a node. */
function identityOf(
  certificate: CertificateManager,
): { chain: string; signer: ReturnType<typeof loadSigner> } | undefined {
  const pair = certificate.current()
  if (!pair || readTokenKey(pair.key) !== undefined) return undefined
  return { chain: pair.chain, signer: loadSigner(pair.key) }
}
