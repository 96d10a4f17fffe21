import { readFileSync } from 'node:fs'
import { createClient, type KubeClient } from '../../kube/client.ts'
import { parseKubeconfig, selectContext } from '../../kube/kubeconfig.ts'
import { connectionConfig } from '../../kube/kubeconfig-connection.ts'
import type { Transport } from '../../kube/transport.ts'
import { connectUndici } from '../../kube/undici-transport.ts'
import { hostPorts } from '../host-ports.ts'

/** A client that looks before each request whether its kubeconfig has changed, as client-go does with a CA in a file. */
export interface FollowingClient {
  client: KubeClient
  transport: Transport
}

/** `program` is its User-Agent; `anchors`, PEM: trusted beside what the kubeconfig says. */
export function followingClient(path: string, program: string, anchors?: () => string): FollowingClient {
  let held: { text: string; transport: Transport } | undefined

  async function current(): Promise<Transport> {
    const text = readFileSync(path, 'utf8')
    const more = anchors?.() ?? ''
    if (held?.text === text + more) return held.transport
    const config = await connectionConfig(selectContext(parseKubeconfig(text, path)), path, hostPorts)
    const old = held?.transport
    const certificateAuthority = `${config.certificateAuthority}\n${more}`
    held = { text: text + more, transport: connectUndici({ ...config, certificateAuthority }) }
    // What is under way on the old connections is finished.
    if (old) hostPorts.clock.after(2000, () => old.closeConnections())
    return held.transport
  }

  const transport: Transport = {
    async request(request) {
      return (await current()).request({ ...request, headers: { ...request.headers, 'user-agent': program } })
    },
    closeConnections: () => held?.transport.closeConnections(),
  }
  return { client: createClient(transport), transport }
}
