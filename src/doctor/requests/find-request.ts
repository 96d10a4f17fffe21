import { RollcallError } from '../../errors.ts'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { type CertificateSigningRequest, type KubeNode, resources } from '../../kube/types.ts'

/** One request by name. One that is gone is explained: Kubernetes deletes them sooner than people expect (C-12). */
export async function getRequest(client: KubeClient, name: string): Promise<CertificateSigningRequest> {
  try {
    return await client.get<CertificateSigningRequest>(resources.certificateSigningRequests, { name })
  } catch (cause) {
    if (!isStatus(cause, 'NotFound')) throw cause
    const why = 'requests are deleted an hour after they were answered and a day after they were made'
    const message = `there is no request ${JSON.stringify(name)}: ${why}; see rollcall csr ls`
    throw new RollcallError('API_STATUS', message, { name }, { cause })
  }
}

/** The Node, or undefined when there is none of this name. */
export async function findNode(client: KubeClient, name: string): Promise<KubeNode | undefined> {
  try {
    return await client.get<KubeNode>(resources.nodes, { name })
  } catch (error) {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  }
}
