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

/**
 * A client straight into the API's handler, with a client certificate that exists only in memory. Authentication,
 * authorization and admission apply as to anybody. The certificate lives as long as the CA.
 */
export async function loopbackClient(
  identity: { commonName: string; organizations: readonly string[] },
  { api, ca, clock, random }: LoopbackOptions,
): Promise<KubeClient> {
  const now = clock.now()
  const lifetime = ca.certificate.notAfter - now
  const pair = await issuePair(ca, { ...identity, usage: 'client auth', lifetime, now }, random)
  const certificates = parseCertificatesPem(pair.certificate).map(certificate => certificate.raw)
  return createClient(
    inProcessTransport(api, { certificates, remoteAddress: '127.0.0.1' }, { 'user-agent': 'rollcall' }),
  )
}
