/** Handshakes that the control plane makes itself to learn what is served and who accepts what. Nothing is resumed. */
import { connect, createServer, type TLSSocket } from 'node:tls'
import { dialKubelet, type KubeletTrust } from '../../apiserver/tunnel/dial-kubelet.ts'
import { connectHttps } from '../../kube/https-transport.ts'
import type { Random } from '../../ports.ts'
import { type Clock, withTimeout } from '../../ports.ts'
import { type CertificateAuthority, issuePair, type KeyPair } from '../issue-pair.ts'

const patience = 5000

export interface Place {
  host: string
  port: number
}

/** Whether who trusts these CAs alone verifies what is served there. */
export async function isVerified(
  { host, port }: Place,
  certificateAuthority: string,
  clock: Clock,
  tlsServerName?: string,
): Promise<boolean> {
  const transport = connectHttps({
    server: urlOf({ host, port }),
    certificateAuthority,
    ...(tlsServerName && { tlsServerName }),
  })
  try {
    const answer = transport.request({ method: 'GET', url: '/version', headers: {} })
    const { status } = await withTimeout(clock, patience, answer, () => new Error('no answer in time'))
    return status > 0
  } catch {
    return false // distrust and silence alike prove nothing
  } finally {
    transport.closeConnections()
  }
}

/** HTTP status that the place answers to who presents this certificate, or none; undefined: no answer. The server is not looked at. */
export async function statusFor(
  { host, port }: Place,
  path: string,
  pair: KeyPair | undefined,
  clock: Clock,
): Promise<number | undefined> {
  const transport = connectHttps({
    server: urlOf({ host, port }),
    insecureSkipTlsVerify: true,
    ...(pair && { clientCertificate: pair }),
  })
  try {
    const answer = transport.request({ method: 'GET', url: path, headers: {} })
    return (await withTimeout(clock, patience, answer, () => new Error('no answer in time'))).status
  } catch {
    return undefined
  } finally {
    transport.closeConnections()
  }
}

/** DER of the leaf that is served there; undefined: nobody answers. */
export function leafServed({ host, port }: Place, clock: Clock): Promise<Uint8Array | undefined> {
  return new Promise(resolve => {
    const socket: TLSSocket = connect({ host, port, rejectUnauthorized: false }, () =>
      end(socket.getPeerX509Certificate()?.raw),
    )
    const timer = clock.after(patience, () => end(undefined))
    socket.on('error', () => end(undefined))
    function end(leaf: Uint8Array | undefined) {
      timer.cancel()
      socket.destroy()
      resolve(leaf && new Uint8Array(leaf))
    }
  })
}

/** Whether the API's own way to kubelets verifies a serving certificate of this CA, presented for the occasion. */
export async function isAcceptedKubelet(
  ca: CertificateAuthority,
  trust: KubeletTrust,
  { clock, random }: { clock: Clock; random: Random },
): Promise<boolean> {
  const node = 'rollcall-canary'
  const pair = await issuePair(
    ca,
    {
      commonName: `system:node:${node}`,
      organizations: ['system:nodes'],
      usage: 'server auth',
      ipAddresses: ['127.0.0.1'],
      lifetime: 3_600_000,
      now: clock.now(),
    },
    random,
  )
  const server = createServer({ cert: pair.certificate, key: pair.key.reveal() }, socket =>
    socket.on('error', () => {}),
  )
  server.on('tlsClientError', () => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  const abort = new AbortController()
  const timer = clock.after(patience, () => abort.abort(new Error('no answer in time')))
  try {
    const socket = await dialKubelet({ host: '127.0.0.1', port, node }, trust, {
      clock,
      signal: abort.signal,
    })
    socket.destroy()
    return true
  } catch {
    return false
  } finally {
    timer.cancel()
    server.close()
  }
}

function urlOf({ host, port }: Place): string {
  return `https://${host.includes(':') ? `[${host}]` : host}:${port}`
}
