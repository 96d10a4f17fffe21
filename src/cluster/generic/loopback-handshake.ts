import { connect, createServer } from 'node:tls'
import type { Clock, Random } from '../../ports.ts'
import { type CertificateAuthority, issuePair } from '../issue-pair.ts'

const patience = 5000

/** Whether who trusts these CAs (PEM) verifies a server's leaf of this CA: a handshake on the loopback, nothing resumed. */
export async function verifiesLeafOf(
  ca: CertificateAuthority,
  pem: string,
  { clock, random }: { clock: Clock; random: Random },
): Promise<boolean> {
  const pair = await issuePair(
    ca,
    {
      commonName: 'rollcall-canary',
      organizations: [],
      usage: 'server auth',
      ipAddresses: ['127.0.0.1'],
      lifetime: 3_600_000,
      now: clock.now(),
    },
    random,
  )
  const server = createServer({ cert: pair.certificate, key: pair.key.reveal() }, socket => {
    socket.on('error', () => {})
  })
  server.on('tlsClientError', () => {})
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  try {
    return await new Promise<boolean>(resolve => {
      const socket = connect({ host: '127.0.0.1', port, ca: pem === '' ? [] : pem }, () => end(true))
      const timer = clock.after(patience, () => end(false))
      socket.on('error', () => end(false))
      function end(verified: boolean) {
        timer.cancel()
        socket.destroy()
        resolve(verified)
      }
    })
  } finally {
    server.close()
  }
}
