/** A cluster that lets machines in which prove themselves, and what a machine does for that, step by step. */

import { inProcessTransport } from '../apiserver/in-process-transport.ts'
import { attestationHandler, isAttestation } from '../controller/attestation/handler.ts'
import { type AttestationService, createAttestation } from '../controller/attestation/service.ts'
import type { ControllersOptions } from '../controller/options.ts'
import { attestSource } from '../join/attest-source.ts'
import type { AcquireContext, BootstrapCredential } from '../join/credential-sources.ts'
import { encodeSigningRequest } from '../join/signing-request.ts'
import { clientTemplate } from '../join/template.ts'
import type { Attestor } from '../keys/attestation/attestor.ts'
import { generateSigner, type PrivateKeySigner } from '../keys/private-key.ts'
import { createClient, type KubeClient } from '../kube/client.ts'
import {
  type IdentityState,
  type NodeIdentityObject,
  nodeIdentities,
} from '../kube/rollcall/node-identity.ts'
import type { ApiRequest, Connect, Peer } from '../kube/transport.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import { encodePem } from '../x509/pem.ts'
import { type ControlledCluster, calm } from './controlled-cluster.ts'
import { seededRandom } from './seeded-random.ts'

const peer: Peer = { remoteAddress: '10.0.0.11' }

export interface AttestedCluster extends ControlledCluster {
  service: AttestationService
  /** Another replica. */
  replica(firstUse?: boolean): AttestationService
  /** In process, with whatever token the connection holds. `watch` sees each request before it is sent. */
  connect: Connect
  watch?: ((request: ApiRequest) => void) | undefined
  identity(name: string): Promise<NodeIdentityObject>
  decideIdentity(name: string, state: IdentityState): Promise<void>
  /** The bearer of a token minted for this machine under this name, and the key it attested; else why there is none. */
  attest(
    attestor: Attestor,
    name: string,
    key?: PrivateKeySigner,
  ): Promise<{ by?: KubeClient; why: string; token: string }>
  /** Asks for a client certificate; resolves with what became of it, and its name. */
  request(by: KubeClient, name: string, key: PrivateKeySigner): Promise<{ fate: string; name: string }>
}

let seeds = 500
export const newKey = () => generateSigner('ECDSA-P256', seededRandom(seeds++))

export async function attestedCluster(
  cluster: ControlledCluster,
  changes: Partial<ControllersOptions> = {},
): Promise<AttestedCluster> {
  const { clock, log, admin, controllerClient: client } = cluster
  const replica = (firstUse = true) =>
    createAttestation({ client, clock, random: seededRandom(seeds++), log, firstUse })
  const service = replica()
  const handle = attestationHandler(service, { clock, log })
  const connect: Connect = ({ bearerToken }) => {
    const headers = bearerToken ? { authorization: `Bearer ${bearerToken.reveal()}` } : {}
    const direct = inProcessTransport(cluster.api, peer, headers)
    return {
      ...direct,
      async request(request) {
        attested.watch?.(request)
        return isAttestation(request) ? handle(request, peer) : direct.request(request)
      },
    }
  }
  await cluster.start(changes)
  const attested: AttestedCluster = {
    ...cluster,
    service,
    replica,
    connect,
    identity: name => admin.get<NodeIdentityObject>(nodeIdentities, { name }),
    async decideIdentity(name, state) {
      const identity = await attested.identity(name)
      await admin.update(nodeIdentities, { ...identity, spec: { ...identity.spec, state } })
    },
    async attest(attestor, name, key = newKey()) {
      const source = attestSource({
        attestor,
        endpoint: async () => ({ server: 'https://127.0.0.1:6443' }),
        connect,
        clock,
      })
      const context: AcquireContext = {
        reason: 'initial',
        nodeName: name,
        key: async () => ({ signer: key, stored: key.exportPem() }),
      }
      const acquired = await source.acquire(context)
      if (!acquired.ok) return { why: `${acquired.reason}: ${acquired.message}`, token: '' }
      return { by: clientOf(acquired.credential), why: 'attested', token: tokenOf(acquired.credential) }
    },
    async request(by, name, key) {
      const template = clientTemplate(name, 'ECDSA-P256')
      const pem = encodePem('CERTIFICATE REQUEST', await encodeSigningRequest(template, key))
      const { metadata } = await by.create<CertificateSigningRequest>(resources.certificateSigningRequests, {
        apiVersion: 'certificates.k8s.io/v1',
        kind: 'CertificateSigningRequest',
        metadata: { name: '', generateName: 'csr-' },
        spec: {
          request: Buffer.from(pem).toString('base64'),
          signerName: template.signerName,
          usages: [...template.usages],
        },
      })
      await calm()
      return { fate: await cluster.fate(metadata.name), name: metadata.name }
    },
  }
  const clientOf = ({ connection }: BootstrapCredential) => createClient(connect(connection))
  const tokenOf = ({ connection }: BootstrapCredential) => connection.bearerToken?.reveal() ?? ''
  return attested
}
