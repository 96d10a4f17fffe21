import { InvalidArgumentError } from 'commander'
import type { Registry } from 'prom-client'
import { type RunningServer, serve } from '../apiserver/http/server.ts'
import { startRepeatedWork } from '../cluster/repeated-work.ts'
import { endpointCertificate, endpointLifetime } from '../controller/attestation/endpoint-certificate.ts'
import { attestationHandler } from '../controller/attestation/handler.ts'
import { attestationMetrics } from '../controller/attestation/metrics.ts'
import { publishEndpoint } from '../controller/attestation/publish-endpoint.ts'
import { createAttestation } from '../controller/attestation/service.ts'
import { RollcallError } from '../errors.ts'
import type { KubeClient } from '../kube/client.ts'
import type { Clock, Log, Random } from '../ports.ts'
import type { Authority, AuthoritySource } from '../sign/authority.ts'
import { encodePem } from '../x509/pem.ts'
import { type ListenAddress, listenAddress } from './serve-metrics.ts'

export interface AttestationListen extends ListenAddress {
  /** Name or address by which machines reach it. */
  name: string
}

/** `ADDRESS:PORT` or `ADDRESS:PORT,name=NAME`, for commander. */
export function attestationListen(text: string): AttestationListen {
  const [address = '', name, ...more] = text.split(',')
  const listen = listenAddress(address)
  if (more.length > 0 || (name !== undefined && !/^name=[A-Za-z0-9.:-]+$/.test(name)))
    throw new InvalidArgumentError('Give ADDRESS:PORT[,name=NAME].')
  const reached = name?.slice('name='.length) ?? listen.host
  if (reached === '0.0.0.0' || reached === '::')
    throw new InvalidArgumentError('Say by which name or address machines reach it: ADDRESS:PORT,name=NAME.')
  return { ...listen, name: reached }
}

export interface AttestationPorts {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  firstUse?: boolean
  /** Where answers are counted; absent: nowhere. */
  metrics?: Registry
}

/** Milliseconds between two looks at the CA when it could not sign. */
const retry = 10_000

/**
 * Lets machines prove themselves on a port of its own, with a certificate of the serving CA, and publishes where. Rejects
 * with SIGNER_UNUSABLE or PORT_IN_USE.
 */
export async function serveAttestation(
  listen: AttestationListen,
  source: AuthoritySource | undefined,
  ports: AttestationPorts,
): Promise<{ url: string; close(): Promise<void> }> {
  const { clock, log, random } = ports
  const first = source?.current()
  if (!source || !first)
    throw new RollcallError(
      'SIGNER_UNUSABLE',
      '--attest-listen: its certificate is of the kubelet-serving CA; give --signing-cert and --signing-key.',
    )
  const tlsBy = async (ca: Authority) => {
    const certificateAuthority = encodePem('CERTIFICATE', ca.certificate.raw)
    const pair = await endpointCertificate(ca, listen.name, clock.now(), random)
    return { ...pair, clientCertificateAuthorities: certificateAuthority }
  }
  const count = ports.metrics && attestationMetrics(ports.metrics)
  const handle = attestationHandler(createAttestation(ports), { clock, log, ...(count && { count }) })
  const api = { handle, beginShutdown() {}, async close() {} }
  const tls = await tlsBy(first)
  const server: RunningServer = await serve({ api, host: listen.host, port: listen.port, tls, clock, log })
  const shown = listen.name.includes(':') ? `[${listen.name}]` : listen.name
  const url = `https://${shown}:${server.port}`
  const publish = (certificateAuthority: string) => publishEndpoint(ports, { url, certificateAuthority })
  const due = (endpointLifetime * 2) / 3
  const renewed = startRepeatedWork({
    clock,
    log,
    first: due,
    failure: 'the certificate of the attestation endpoint cannot be renewed',
    async work() {
      const ca = source.current()
      if (!ca) return retry
      const next = await tlsBy(ca)
      server.setTls(next)
      await publish(next.clientCertificateAuthorities)
      return due
    },
  })
  const close = async () => {
    await renewed.stop()
    await server.close()
  }
  try {
    await publish(tls.clientCertificateAuthorities)
  } catch (error) {
    await close()
    throw error
  }
  return { url, close }
}
