/** The real API in memory, and the clients that the fuzzer sends as. */
import type { Api } from '../../src/apiserver/api.ts'
import { issueCertificate } from '../../src/keys/self-signed.ts'
import type { ApiRequest, Peer } from '../../src/kube/transport.ts'
import type { Log } from '../../src/ports.ts'
import { startEmbeddedCluster } from '../../src/testing/embedded-cluster.ts'
import type { ManualClock } from '../../src/testing/manual-clock.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { nameOf } from '../../src/x509/name.ts'
import { oids } from '../../src/x509/oid.ts'
import { decodePem } from '../../src/x509/pem.ts'
import type { Chance } from './chance.ts'

export interface Target {
  api: Api
  clock: ManualClock
  peers: readonly Sender[]
  /** Texts of errors that the API logged since the last call: what it answered 500 to. */
  takeErrors(): string[]
  close(): Promise<void>
}

export interface Sender {
  peer: Peer
  headers: Record<string, string>
}

export async function startTarget(): Promise<Target> {
  let errors: string[] = []
  const log: Log = {
    info() {},
    warn() {},
    error: (message, fields) => errors.push(`${message} ${JSON.stringify(fields)}`),
  }
  const cluster = await startEmbeddedCluster(log)
  const remoteAddress = '127.0.0.1'
  const holder = async (commonName: string, organization: string): Promise<Sender> => {
    const pem = await issueCertificate({
      ca: cluster.ca,
      subject: nameOf({ commonName, organizations: [organization] }),
      spki: cluster.ca.signer.publicKey,
      notBefore: cluster.clock.now() - 3_600_000,
      notAfter: cluster.ca.certificate.notAfter,
      random: seededRandom(1),
      extensions: { keyUsage: ['digitalSignature'], extendedKeyUsage: [oids.clientAuth] },
    })
    return { peer: { certificates: decodePem(pem).map(({ bytes }) => bytes), remoteAddress }, headers: {} }
  }
  const admin = await holder('admin', 'system:masters')
  return {
    api: cluster.api,
    clock: cluster.clock,
    // The administrator gets furthest, so he sends most.
    peers: [
      ...Array.from({ length: 12 }, () => admin),
      await holder('system:node:worker-1', 'system:nodes'),
      { peer: { remoteAddress }, headers: { authorization: 'Bearer abcdef.0123456789abcdef' } },
      { peer: { remoteAddress }, headers: {} },
      { peer: { certificates: [Uint8Array.of(0x30, 0x80)], remoteAddress }, headers: {} },
    ],
    takeErrors() {
      const taken = errors
      errors = []
      return taken
    },
    close: () => cluster.close(),
  }
}

/** Sends the request as one of the clients. */
export function send(target: Target, chance: Chance, request: ApiRequest) {
  const { peer, headers } = chance.pick(target.peers)
  return target.api.handle({ ...request, headers: { ...headers, ...request.headers } }, peer)
}
