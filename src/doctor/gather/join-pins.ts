import { createClient } from '../../kube/client.ts'
import type { Connect } from '../../kube/transport.ts'
import type { Gathered } from '../artifacts/artifacts.ts'
import type { JoinPins } from '../artifacts/node-artifacts.ts'
import { attempt } from './attempt.ts'
import { readClusterInfo } from './trust.ts'

/** cluster-info as a machine without trust reads it, beside the pins that it would join by. */
export async function readJoinPins(
  server: string | undefined,
  pins: readonly string[],
  connect: Connect,
): Promise<Gathered<JoinPins>> {
  if (pins.length === 0) return { status: 'notAsked', reason: 'asked for with --discovery-ca-pin only' }
  if (server === undefined) return { status: 'failed', reason: 'no kubeconfig here names an API server' }
  const anybody = connect({ server, insecureSkipTlsVerify: true })
  try {
    return await attempt(async () => {
      const { certificateAuthority = '' } = await readClusterInfo(createClient(anybody))
      return { server, pins: [...pins], certificateAuthority }
    })
  } finally {
    anybody.closeConnections()
  }
}
