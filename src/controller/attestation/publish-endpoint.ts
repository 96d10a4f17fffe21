import { isStatus, type KubeClient } from '../../kube/client.ts'
import { attestationEndpoint } from '../../kube/rollcall/node-identity.ts'
import { type ConfigMap, resources } from '../../kube/types.ts'
import type { Log } from '../../ports.ts'

const target = { namespace: 'kube-public', name: 'cluster-info' }
const mostConflicts = 5

/**
 * Tells machines in kube-public/cluster-info where they prove themselves and by which CA: there a machine without a
 * credential may read, over a connection whose CA it knows.
 */
export async function publishEndpoint(
  { client, log }: { client: KubeClient; log: Log },
  { url, certificateAuthority }: { url: string; certificateAuthority: string },
): Promise<void> {
  const { address, authority } = attestationEndpoint
  for (let conflicts = 0; ; conflicts++) {
    try {
      const info = await client.get<ConfigMap>(resources.configMaps, target)
      if (info.data?.[address] === url && info.data[authority] === certificateAuthority) return
      const data = { ...info.data, [address]: url, [authority]: certificateAuthority }
      await client.update(resources.configMaps, { ...info, data })
      return
    } catch (error) {
      if (isStatus(error, 'NotFound')) {
        log.warn('kube-public/cluster-info is not there: machines need --attest-server', { url })
        return
      }
      if (!isStatus(error, 'Conflict') || conflicts >= mostConflicts) throw error
    }
  }
}
