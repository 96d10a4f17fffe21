import { constants } from 'node:crypto'
import { connect as connectTcp, isIP, type Socket } from 'node:net'
import { connect as connectTls, type TLSSocket } from 'node:tls'
import type { Secret } from '../../keys/secret.ts'
import type { Clock } from '../../ports.ts'
import { peerOf } from '../http/peer.ts'
import { connectError, DialError, tlsError } from './dial-error.ts'
import { hostPort, type KubeletAddress } from './kubelet-address.ts'
import { whyNotServing } from './verify-serving.ts'

export interface KubeletTrust {
  /** Presented to kubelets: kube-apiserver's --kubelet-client-certificate and -key. */
  clientCertificate(): { certificate: string; key: Secret }
  /** PEM; --kubelet-certificate-authority. undefined: a kubelet's certificate is not looked at, as in Kubernetes. */
  certificateAuthority(): string | undefined
}

/** Milliseconds; Go's dialer and transport of kube-apiserver. */
const CONNECT_TIMEOUT = 30_000
const HANDSHAKE_TIMEOUT = 10_000
/** Milliseconds of silence after which a kubelet's machine is asked whether it is still there. */
const KEEP_ALIVE = 30_000

/**
 * A TLS connection to a kubelet that nothing has been sent on yet. Without `insecure` its certificate must chain to the
 * CA and hold the address dialled. Rejects with DialError, or with the signal's reason.
 */
export async function dialKubelet(
  address: KubeletAddress,
  trust: KubeletTrust,
  { clock, signal, insecure = false }: { clock: Clock; signal: AbortSignal; insecure?: boolean },
): Promise<TLSSocket> {
  signal.throwIfAborted()
  const tcp = await opened(address, clock, signal)
  const tls = await secured(tcp, address, trust, clock, signal)
  const authority = insecure ? undefined : trust.certificateAuthority()
  if (authority === undefined) return tls
  const why = whyNotServing(peerOf(tls).certificates ?? [], authority, address, clock.now())
  if (why === undefined) return tls
  tls.destroy()
  throw new DialError(`tls: failed to verify certificate: ${why}`)
}

function opened(address: KubeletAddress, clock: Clock, signal: AbortSignal): Promise<Socket> {
  const { host, port } = address
  const target = hostPort(address)
  const socket = connectTcp({ host, port })
  return settle(socket, { clock, signal, milliseconds: CONNECT_TIMEOUT }, (resolve, reject) => {
    socket.once('connect', () => {
      socket.setKeepAlive(true, KEEP_ALIVE)
      socket.setNoDelay(true)
      resolve(socket)
    })
    socket.once('error', error => reject(connectError(error, host, target)))
    return () => reject(new DialError(`dial tcp ${target}: i/o timeout`))
  })
}

function secured(
  socket: Socket,
  { host }: KubeletAddress,
  trust: KubeletTrust,
  clock: Clock,
  signal: AbortSignal,
): Promise<TLSSocket> {
  const { certificate, key } = trust.clientCertificate()
  const { localAddress = '', localPort = 0, remoteAddress = '', remotePort = 0 } = socket
  const ends = `${hostPort({ host: localAddress, port: localPort })}->${hostPort({ host: remoteAddress, port: remotePort })}`
  const tls = connectTls({
    socket,
    cert: certificate,
    key: key.reveal(),
    // Judged after the handshake, by Kubernetes' rules and in its words, before anything is sent.
    rejectUnauthorized: false,
    minVersion: 'TLSv1.2',
    // A resumed session would hide that a certificate or its CA has changed.
    secureOptions: constants.SSL_OP_NO_TICKET,
    ...(isIP(host) === 0 && { servername: host }),
  })
  return settle(tls, { clock, signal, milliseconds: HANDSHAKE_TIMEOUT }, (resolve, reject) => {
    tls.once('secureConnect', () => resolve(tls))
    tls.once('error', error => reject(tlsError(error, ends)))
    tls.once('close', () => reject(new DialError('EOF')))
    return () => reject(new DialError('net/http: TLS handshake timeout'))
  })
}

/** `begin` arranges the outcome and gives what happens when the time is over. The socket is gone unless it resolves. */
async function settle<T>(
  socket: Socket,
  { clock, signal, milliseconds }: { clock: Clock; signal: AbortSignal; milliseconds: number },
  begin: (resolve: (value: T) => void, reject: (error: Error) => void) => () => void,
): Promise<T> {
  let cleanUp = () => {}
  try {
    return await new Promise<T>((resolve, reject) => {
      const left = () => reject(signal.reason as Error)
      const timer = clock.after(milliseconds, begin(resolve, reject))
      signal.addEventListener('abort', left, { once: true })
      cleanUp = () => {
        timer.cancel()
        signal.removeEventListener('abort', left)
      }
    })
  } catch (error) {
    socket.on('error', () => {})
    socket.destroy()
    throw error
  } finally {
    cleanUp()
  }
}
