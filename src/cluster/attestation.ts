import type { Api } from '../apiserver/api.ts'
import { attestationHandler, isAttestation } from '../controller/attestation/handler.ts'
import { createAttestation } from '../controller/attestation/service.ts'
import type { Clock, Log, Random } from '../ports.ts'
import { identities } from './identities.ts'
import { type LoopbackOptions, loopbackClient } from './loopback-client.ts'

/** `api`, beside which machines prove themselves on the same port; with the rights of the controllers and no others. */
export async function withAttestation(
  api: Api,
  loopback: LoopbackOptions,
  ports: { clock: Clock; random: Random; log: Log },
): Promise<Api> {
  const client = await loopbackClient(identities.controllers, loopback)
  const attest = attestationHandler(createAttestation({ ...ports, client }), ports)
  return {
    ...api,
    handle: (request, peer) => (isAttestation(request) ? attest(request, peer) : api.handle(request, peer)),
  }
}
