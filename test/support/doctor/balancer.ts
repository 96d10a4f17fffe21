/** A proxy that ends TLS before `up`, as load balancers and inspecting proxies do, and passes requests on. */
import { writeFileSync } from 'node:fs'
import { endpointSlices } from '../../../src/approve/reserved/cluster-objects.ts'
import { hostPorts } from '../../../src/cluster/host-ports.ts'
import { type CertificateAuthority, issuePair, type PairRequest } from '../../../src/cluster/issue-pair.ts'
import { Secret } from '../../../src/keys/secret.ts'
import { encodeKubeconfig, type KubeconfigFields } from '../../../src/kube/encode-kubeconfig.ts'
import type { KubeObject } from '../../../src/kube/types.ts'
import { falseKubelet } from '../false-kubelet.ts'
import { authority } from './authority.ts'
import type { ExaminedUp } from './examined-up.ts'

export interface Balancer {
  url: string
  port: number
}

const year = 365 * 86_400_000

/** It presents a certificate of this CA, and asks as who its own transport is: the administrator. */
export async function balance(
  up: ExaminedUp,
  changes: Partial<PairRequest> = {},
  { ca = authority(up), host = '127.0.0.1', port: wantedPort = 0 }: BalancerOptions = {},
): Promise<Balancer> {
  const wanted = { commonName: 'balancer', organizations: [], usage: 'server auth' as const }
  const names = { ipAddresses: [host], lifetime: year, now: up.now() }
  const pair = await issuePair(ca, { ...wanted, ...names, ...changes }, hostPorts.random)
  const { port, close } = await falseKubelet(
    pair,
    async (request, response) => {
      const { method = 'GET', url = '/' } = request
      const body = Buffer.concat(await request.toArray())
      const headers = { accept: 'application/json', 'content-type': String(request.headers['content-type']) }
      const answer = await up.transport.request({ method, url, headers, ...(body.length > 0 && { body }) })
      response.writeHead(answer.status, { 'content-type': 'application/json' })
      if (answer.body instanceof Uint8Array) response.write(answer.body)
      else for await (const chunk of answer.body) response.write(chunk)
      response.end()
    },
    host,
    wantedPort,
  )
  up.onMend(close)
  return { port, url: `https://${host}:${port}` }
}

interface BalancerOptions {
  ca?: CertificateAuthority
  host?: string
  port?: number
}

/** A kubeconfig for this server; gives its path. */
export function kubeconfigFor(
  up: ExaminedUp,
  server: string,
  certificateAuthority: string,
  user: KubeconfigFields['user'] = { token: new Secret('x') },
): string {
  const file = up.scratch('other.kubeconfig')
  writeFileSync(
    file,
    encodeKubeconfig({ server, certificateAuthority: { pem: certificateAuthority }, user }).reveal(),
  )
  return file
}

/** The API servers are at these addresses, says the cluster. */
export async function serversAt({ admin }: ExaminedUp, port: number, ...addresses: string[]): Promise<void> {
  const target = { name: 'kubernetes', namespace: 'default' }
  const slice = await admin.get<KubeObject & { ports?: object[] }>(endpointSlices, target)
  await admin.update<KubeObject>(endpointSlices, {
    ...slice,
    ...{ endpoints: [{ addresses }], ports: [{ name: 'https', protocol: 'TCP', port }] },
  })
}
