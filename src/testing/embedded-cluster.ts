/** The real embedded API in memory, with kubeadm's namespaces and bindings: what controllers are tested against. */

import { createTokenIssuer } from '../apiserver/access/authentication/service-account/token-issuer.ts'
import { bootstrapPolicy } from '../apiserver/access/bootstrap-policy.ts'
import { createAccess } from '../apiserver/access/create-access.ts'
import type { Api } from '../apiserver/api.ts'
import { type ApiOptions, createApi } from '../apiserver/create-api.ts'
import { inProcessTransport } from '../apiserver/in-process-transport.ts'
import { createObjectReader } from '../apiserver/object-reader.ts'
import type { ObjectReader } from '../apiserver/reader.ts'
import { allResources } from '../apiserver/resources/index.ts'
import { createMemoryStore } from '../apiserver/storage/memory-store.ts'
import { seed } from '../cluster/seed.ts'
import { type Seed, seedNamespaces, seedObjects } from '../cluster/seed-objects.ts'
import { generateSigner } from '../keys/private-key.ts'
import { issueCertificate } from '../keys/self-signed.ts'
import { createClient, type KubeClient } from '../kube/client.ts'
import type { Peer, Transport } from '../kube/transport.ts'
import { type KubeObject, type PolicyRule, type RoleBinding, resources, type Secret } from '../kube/types.ts'
import { type Log, silentLog } from '../ports.ts'
import type { Authority } from '../sign/authority.ts'
import { bootstrapTokenSecretName } from '../trust/bootstrap-token.ts'
import { nameOf } from '../x509/name.ts'
import { oids } from '../x509/oid.ts'
import { decodePem } from '../x509/pem.ts'
import { createManualClock, type ManualClock } from './manual-clock.ts'
import { seededRandom } from './seeded-random.ts'
import { signingAuthority } from './signing-authority.ts'

/** As kubeadm writes it: one cluster without a name. */
const kubeconfigOfCluster = (pem: string) => `apiVersion: v1
kind: Config
clusters:
- name: ""
  cluster:
    server: https://cluster.example:6443
    certificate-authority-data: ${Buffer.from(pem).toString('base64')}
`
const bootstrapToken = { id: 'abcdef', secret: '0123456789abcdef' }

export interface EmbeddedCluster {
  api: Api
  reader: ObjectReader
  clock: ManualClock
  ca: Authority & { pem: string }
  /** A member of system:masters. */
  admin: KubeClient
  /** A client that holds a certificate of this user. */
  as(username: string, ...groups: string[]): Promise<KubeClient>
  /** What its connection tells of this user. */
  peerOf(username: string, ...groups: string[]): Promise<Peer>
  /** The same, for requests that a client does not make. */
  transportAs(username: string, ...groups: string[]): Promise<Transport>
  /** A program in the API's own process, with whom objects are exchanged as they are. */
  within(username: string, ...groups: string[]): Promise<KubeClient>
  node(name: string): Promise<KubeClient>
  /** A client that holds the bootstrap token. */
  bootstrapper: KubeClient
  /** Gives a user rights in the whole cluster, and others in one namespace. */
  grant(username: string, rules: PolicyRule[], namespace?: string): Promise<void>
  close(): Promise<void>
}

export async function startEmbeddedCluster(
  log: Log = silentLog,
  more: Partial<ApiOptions> = {},
): Promise<EmbeddedCluster> {
  const clock = createManualClock(Date.parse('2026-03-01T12:00:00Z'))
  const random = seededRandom(7)
  const ca = await signingAuthority(clock.now(), 11)
  const store = createMemoryStore({ clock })
  const reader = createObjectReader(store)
  const issuer = createTokenIssuer({ signer: generateSigner('ECDSA-P256', random) })
  const clientCertificateAuthorities = ca.pem
  const access = createAccess({ reader, clock, log, clientCertificateAuthorities, tokenIssuer: issuer })
  const tokens = { issuer, server: () => 'https://127.0.0.1:6443' }
  const own = { store, reader, access, resources: allResources, clock, random, log, tokens }
  const api = createApi({ ...own, ...more })

  const peerOf: EmbeddedCluster['peerOf'] = async (username, ...groups) => {
    const pem = await issueCertificate({
      ca,
      subject: nameOf({ commonName: username, organizations: groups }),
      spki: ca.signer.publicKey,
      notBefore: clock.now() - 3_600_000,
      notAfter: ca.certificate.notAfter,
      random,
      extensions: { keyUsage: ['digitalSignature'], extendedKeyUsage: [oids.clientAuth] },
    })
    return { certificates: decodePem(pem).map(block => block.bytes), remoteAddress: '127.0.0.1' }
  }
  const transportAs: EmbeddedCluster['transportAs'] = async (...user) =>
    inProcessTransport(api, await peerOf(...user))
  const as: EmbeddedCluster['as'] = async (...user) => createClient(await transportAs(...user))
  const within: EmbeddedCluster['within'] = async (...user) =>
    createClient(inProcessTransport(api, await peerOf(...user), {}, { values: true }))
  const admin = await as('admin', 'system:masters')
  // Namespaces come first: roles and secrets need theirs.
  await seed(admin, seedNamespaces)
  await seed(admin, [
    ...seedObjects(kubeconfigOfCluster(ca.pem)),
    ...bootstrapPolicy().map(seedOf),
    seedOf(tokenSecret()),
  ])
  const authorization = `Bearer ${bootstrapToken.id}.${bootstrapToken.secret}`
  const anonymous = { remoteAddress: '127.0.0.1' }

  return {
    api,
    reader,
    clock,
    ca,
    admin,
    as,
    peerOf,
    transportAs,
    within,
    node: name => as(`system:node:${name}`, 'system:nodes'),
    bootstrapper: createClient(inProcessTransport(api, anonymous, { authorization })),
    async grant(username, rules, namespace) {
      const kind = namespace ? 'Role' : 'ClusterRole'
      const metadata = { name: `granted:${username}`, ...(namespace ? { namespace } : {}) }
      const apiVersion = 'rbac.authorization.k8s.io/v1'
      const apiGroup = 'rbac.authorization.k8s.io'
      const binding: RoleBinding = {
        apiVersion,
        kind: `${kind}Binding`,
        metadata,
        roleRef: { apiGroup, kind, name: metadata.name },
        subjects: [{ kind: 'User', apiGroup, name: username }],
      }
      await seed(admin, [seedOf({ apiVersion, kind, metadata, rules } as KubeObject), seedOf(binding)])
    },
    async close() {
      await api.close()
      await store.close()
    },
  }
}

function seedOf(object: KubeObject): Seed {
  const resource = Object.values(resources).find(({ kind }) => kind === object.kind)
  if (!resource) throw new RangeError(`no resource of kind ${object.kind}`)
  return { resource, object }
}

function tokenSecret(): Secret {
  return {
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: bootstrapTokenSecretName(bootstrapToken.id), namespace: 'kube-system' },
    type: 'bootstrap.kubernetes.io/token',
    stringData: {
      'token-id': bootstrapToken.id,
      'token-secret': bootstrapToken.secret,
      'usage-bootstrap-authentication': 'true',
      'usage-bootstrap-signing': 'true',
      'auth-extra-groups': 'system:bootstrappers:kubeadm:default-node-token',
      expiration: '2026-03-02T12:00:00Z',
    },
  }
}
