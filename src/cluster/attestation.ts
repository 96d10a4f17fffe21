import type { Registry } from 'prom-client'
import type { Api } from '../apiserver/api.ts'
import { attestationHandler, isAttestation } from '../controller/attestation/handler.ts'
import { attestationMetrics } from '../controller/attestation/metrics.ts'
import { createAttestation } from '../controller/attestation/service.ts'
import type { Clock, Log, Random } from '../ports.ts'
import { identities } from './identities.ts'
import { type LoopbackOptions, loopbackClient } from './loopback-client.ts'

/** `api`, beside which machines prove themselves on the same port; with the rights of the controllers and no others. */
export async function withAttestation(
  api: Api,
  loopback: LoopbackOptions,
  ports: { clock: Clock; random: Random; log: Log },
  metrics: Registry,
): Promise<Api> {
  const client = await loopbackClient(identities.controllers, loopback)
  const count = attestationMetrics(metrics)
  const attest = attestationHandler(createAttestation({ ...ports, client }), { ...ports, count })
  return {
    ...api,
    handle: (request, peer) => (isAttestation(request) ? attest(request, peer) : api.handle(request, peer)),
  }
}
