import type { Api } from '../apiserver/api.ts'
import { inProcessTransport } from '../apiserver/in-process-transport.ts'
import { createClient, type KubeClient } from '../kube/client.ts'
import type { Clock, Random } from '../ports.ts'
import { parseCertificatesPem } from '../x509/certificate.ts'
import { type CertificateAuthority, issuePair } from './issue-pair.ts'

export interface LoopbackOptions {
  api: Api
  ca: CertificateAuthority
  clock: Clock
  random: Random
}

/** Its certificate can be made anew, by another CA, while it is in use. */
export interface LoopbackClient extends KubeClient {
  issuer(): CertificateAuthority
  renew(ca: CertificateAuthority): Promise<void>
}

/**
 * A client straight into the API's handler, with a client certificate that exists only in memory. Authentication,
 * authorization and admission apply as to anybody. The certificate lives as long as the CA.
 */
export async function loopbackClient(
  identity: { commonName: string; organizations: readonly string[] },
  { api, ca, clock, random }: LoopbackOptions,
): Promise<LoopbackClient> {
  const peer = { certificates: await certificatesOf(ca), remoteAddress: '127.0.0.1' }
  let issuer = ca
  const client = createClient(inProcessTransport(api, peer, { 'user-agent': 'rollcall' }, { values: true }))
  return {
    ...client,
    issuer: () => issuer,
    async renew(next) {
      peer.certificates = await certificatesOf(next)
      issuer = next
    },
  }

  async function certificatesOf(from: CertificateAuthority): Promise<Uint8Array[]> {
    const now = clock.now()
    const lifetime = from.certificate.notAfter - now
    const pair = await issuePair(from, { ...identity, usage: 'client auth', lifetime, now }, random)
    return parseCertificatesPem(pair.certificate).map(certificate => certificate.raw)
  }
}
