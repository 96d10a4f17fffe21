import { createServer as createPlain } from 'node:http'
import { createServer, Server } from 'node:https'
import type { AddressInfo, Socket } from 'node:net'
import { serveHttps } from '../../src/agent/serve-https.ts'
import type { ControlPlane } from '../../src/cluster/control-plane.ts'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { issuePair, type KeyPair, type PairRequest } from '../../src/cluster/issue-pair.ts'
import { generateSigner } from '../../src/keys/private-key.ts'
import { selfSignedCa } from '../../src/keys/self-signed.ts'
import { parseCertificatesPem } from '../../src/x509/certificate.ts'

const { clock, random } = hostPorts
const day = 86_400_000

/** A pair for a kubelet, from the cluster's CA unless another one is given. */
export function kubeletPair(
  { pki }: ControlPlane,
  wanted: Partial<PairRequest> = {},
  ca = pki.ca,
): Promise<KeyPair> {
  const node = {
    commonName: 'system:node:node-b',
    organizations: ['system:nodes'],
    usage: 'server auth' as const,
  }
  return issuePair(
    ca,
    { ...node, ipAddresses: ['127.0.8.1'], lifetime: day, now: clock.now(), ...wanted },
    random,
  )
}

/** A CA that nobody here trusts. */
export async function foreignAuthority(commonName: string) {
  const signer = generateSigner('ECDSA-P256', random)
  const pem = await selfSignedCa({
    commonName,
    signer,
    random,
    notBefore: clock.now() - 365 * day,
    notAfter: clock.now() + 365 * day,
  })
  const [certificate] = parseCertificatesPem(pem)
  if (!certificate) throw new TypeError('a CA without a certificate')
  return { pem, certificate, signer }
}

export interface FalseKubelet {
  port: number
  /** Absent where there is no certificate. */
  server?: Server
  close(): void
}

type Handler = Parameters<typeof createPlain>[1] & object

/** Something that listens where a kubelet should, with a certificate of its choice, and answers as it likes. */
export async function falseKubelet(
  pair: KeyPair | undefined,
  handler: Handler,
  host = '127.0.8.1',
  port = 0,
): Promise<FalseKubelet> {
  if (!pair) {
    // The node's own server, before its certificate has been issued.
    const endpoint = await serveHttps({
      address: host,
      port: 0,
      getCertificate: () => undefined,
      handle: () => Promise.reject(new Error('no handshake comes that far')),
    })
    return { port: endpoint.port, close: () => void endpoint.close() }
  }
  const server = createServer(
    { cert: pair.certificate, key: pair.key.reveal(), requestCert: true, rejectUnauthorized: false },
    handler,
  )
  return listening(server, host, port)
}

/** One that speaks no TLS. */
export const plainKubelet = (handler: Handler): Promise<FalseKubelet> =>
  listening(createPlain(handler), '127.0.8.1')

async function listening(
  server: Server | ReturnType<typeof createPlain>,
  host: string,
  port = 0,
): Promise<FalseKubelet> {
  const sockets = new Set<Socket>()
  server.on('connection', (socket: Socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.once('close', () => sockets.delete(socket))
  })
  await new Promise<void>(resolve => server.listen(port, host, resolve))
  return {
    port: (server.address() as AddressInfo).port,
    ...(server instanceof Server && { server }),
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}
