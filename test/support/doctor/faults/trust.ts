/** CAs and who trusts them, while nobody mends what is published; and those who look with the wrong kubeconfig. */
import { createTokenIssuer } from '../../../../src/apiserver/access/authentication/service-account/token-issuer.ts'
import { hostPorts } from '../../../../src/cluster/host-ports.ts'
import { type CertificateAuthority, issuePair, type PairRequest } from '../../../../src/cluster/issue-pair.ts'
import { generateSigner } from '../../../../src/keys/private-key.ts'
import { type ConfigMap, type KubeObject, resources, type Secret } from '../../../../src/kube/types.ts'
import { ago, ask, decide, node, read, register, sign } from '../actions.ts'
import { authority, otherAuthority } from '../authority.ts'
import { balance, kubeconfigFor, serversAt } from '../balancer.ts'
import type { ExaminedUp, Fault } from '../examined-up.ts'
import { leaf, own } from '../guest.ts'

const day = 86_400_000
const ownCa = (up: ExaminedUp) => read(up, 'pki', 'ca.crt')
const other = async (up: ExaminedUp, left = 1000 * day) => (await otherAuthority(up.now() + left)).pem

/** Writes kube-root-ca.crt of every namespace. */
async function publish({ admin }: ExaminedUp, pem: string): Promise<void> {
  const { items } = await admin.list(resources.namespaces)
  for (const { metadata } of items) {
    const target = { name: 'kube-root-ca.crt', namespace: metadata.name }
    await admin.patch<ConfigMap>(resources.configMaps, target, 'merge', { data: { 'ca.crt': pem } })
  }
}

function clientTrust({ admin }: ExaminedUp, pem: string): Promise<unknown> {
  const target = { name: 'extension-apiserver-authentication', namespace: 'kube-system' }
  return admin.patch(resources.configMaps, target, 'merge', { data: { 'client-ca-file': pem } })
}

function clusterInfo({ admin }: ExaminedUp, server: string, pem: string): Promise<unknown> {
  const data = Buffer.from(pem).toString('base64')
  const kubeconfig = `apiVersion: v1\nkind: Config\nclusters:\n- name: ""\n  cluster:\n    server: ${server}\n    certificate-authority-data: ${data}\n`
  const target = { name: 'cluster-info', namespace: 'kube-public' }
  return admin.patch<ConfigMap>(resources.configMaps, target, 'merge', { data: { kubeconfig } })
}

/** The certificate of a client, of the cluster's CA. */
function client(up: ExaminedUp, changes: Partial<PairRequest>, ca = authority(up)) {
  const wanted = { commonName: 'somebody', organizations: [], usage: 'client auth' as const, lifetime: day }
  return issuePair(ca, { ...wanted, now: up.now(), ...changes }, hostPorts.random)
}

async function kubeconfigOf(
  up: ExaminedUp,
  changes: Partial<PairRequest>,
  server = up.config.server,
): Promise<void> {
  const { certificate, key } = await client(up, changes)
  const user = { clientCertificate: { pem: certificate }, clientKey: { pem: key } }
  kubeconfigFor(up, server, ownCa(up), user)
}

const withOther = (up: ExaminedUp) => ['--kubeconfig', up.scratch('other.kubeconfig')]

/** A guest's serving certificate by this CA, as somebody else's signer hands it out. */
async function signedBy(up: ExaminedUp, ca: CertificateAuthority, lifetime = day): Promise<void> {
  const asked = await ask({ by: node(up, own.of), ...own })
  await decide(up, asked, 'Approved', 'SansProven')
  const names = { dnsNames: own.dns, ipAddresses: own.ips, lifetime }
  await sign(up, asked, await leaf(up, 'server auth', names, ca))
}

export const trustFaults: readonly Fault[] = [
  {
    id: 'D03',
    what: 'the CA that should sign has ended',
    async make(up) {
      await publish(up, await other(up, -day))
      await register(up, own.of)
      await ago(up, 2 * 60_000, async () =>
        decide(up, await ask({ by: node(up, own.of), ...own }), 'Approved', 'SansProven'),
      )
    },
  },
  {
    id: 'D07',
    what: 'a CA that ends before what it issues',
    async make(up) {
      const ca = await otherAuthority(up.now() + 30 * day, { life: 31 * day })
      await publish(up, ownCa(up) + ca.pem)
      await register(up, own.of)
      await signedBy(up, ca, 60 * day)
    },
  },
  {
    id: 'D12',
    what: 'two signers with different CAs take turns',
    async make(up) {
      const ca = await otherAuthority(up.now() + 1000 * day)
      await publish(up, ownCa(up) + ca.pem)
      await register(up, own.of)
      await ago(up, 2 * 60_000, () => signedBy(up, ca))
      await ago(up, 60_000, () => signedBy(up, authority(up)))
      await signedBy(up, ca)
    },
  },
  {
    id: 'E14',
    what: 'the API trusts the CA of the nodes no more',
    make: async up => clientTrust(up, await other(up)),
  },
  {
    id: 'I03',
    what: 'a namespace without kube-root-ca.crt',
    make: ({ admin }) =>
      admin.delete(resources.configMaps, { name: 'kube-root-ca.crt', namespace: 'default' }),
  },
  {
    id: 'I04',
    what: 'a pod that is older than the newest CA',
    async make(up) {
      const pod: KubeObject & { spec: object } = {
        apiVersion: 'v1',
        kind: 'Pod',
        metadata: { name: 'old', namespace: 'default' },
        spec: { containers: [{ name: 'c', image: 'x' }] },
      }
      const created = await up.admin.create(resources.pods, pod)
      const status = {
        phase: 'Running',
        startTime: `${new Date(up.now() - 7 * day).toISOString().slice(0, 19)}Z`,
      }
      const changed: KubeObject & { status: object } = { ...created, status }
      await up.admin.update(resources.pods, changed, { subresource: 'status' })
      const { pem } = await otherAuthority(up.now() + 997 * day, { life: 1000 * day })
      await publish(up, ownCa(up) + pem)
    },
  },
  {
    id: 'I05',
    what: 'cluster-info hands out another CA',
    make: async up => clusterInfo(up, up.config.server, await other(up)),
  },
  {
    id: 'I09',
    what: 'a bundle with a CA that has ended',
    make: async up => publish(up, ownCa(up) + (await other(up, -day))),
  },
  {
    id: 'I10',
    what: 'a bundle out of an editor',
    make: up => publish(up, `\uFEFF# our CA\r\n${ownCa(up)}`),
  },
  {
    id: 'I11',
    what: 'a CA ends within weeks',
    also: ['I01'],
    make: async up => publish(up, await other(up, 20 * day)),
  },
  {
    id: 'I17',
    what: 'a token of a key that the API has given up',
    async make({ admin, now }) {
      const former = createTokenIssuer({ signer: generateSigner('ECDSA-P256', hostPorts.random) })
      const at = Math.floor(now() / 1000)
      const token = await former.sign({
        iss: former.issuer,
        sub: 'system:serviceaccount:default:default',
        aud: [former.issuer],
        iat: at,
        nbf: at,
        jti: 'a',
        'kubernetes.io': { namespace: 'default', serviceaccount: { name: 'default', uid: 'u' } },
        exp: at + 3600,
      })
      const annotations = { 'kubernetes.io/service-account.name': 'default' }
      await admin.create<Secret>(resources.secrets, {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'ci-token', namespace: 'default', annotations },
        type: 'kubernetes.io/service-account-token',
        data: { token: Buffer.from(token).toString('base64') },
      })
    },
  },
  {
    id: 'A13',
    what: 'cluster-info names a server that the API is not certified for',
    make: up => clusterInfo(up, 'https://lb.example:6443', ownCa(up)),
  },
  {
    id: 'I12',
    what: 'one of two API servers has another CA',
    async make(up) {
      const ca = await otherAuthority(up.now() + 1000 * day)
      const { port } = await balance(
        up,
        {},
        { ca, host: '127.0.9.2', port: Number(new URL(up.config.server).port) },
      )
      await serversAt(up, port, '127.0.0.1', '127.0.9.2')
    },
  },
]

/** Looked at through another kubeconfig. */
export const kubeconfigFaults: readonly Fault[] = (
  [
    {
      id: 'A13',
      what: 'the API is dialled by a name that it is not certified for',
      async make(up) {
        const { url } = await balance(up, { ipAddresses: [], dnsNames: ['other.example'] })
        kubeconfigFor(up, url, ownCa(up))
      },
    },
    {
      id: 'A14',
      what: 'a proxy ends TLS before the API',
      async make(up) {
        const ca = await otherAuthority(up.now() + 1000 * day)
        const { url } = await balance(up, {}, { ca })
        kubeconfigFor(up, url, ca.pem)
      },
    },
    {
      id: 'A20',
      what: 'the certificate of the API ends within the hour',
      async make(up) {
        const { url } = await balance(up, { now: up.now() - 99 * 3_600_000, lifetime: 100 * 3_600_000 })
        kubeconfigFor(up, url, ownCa(up))
      },
    },
    {
      id: 'I01',
      what: 'the API presents a CA that nobody was given',
      async make(up) {
        const ca = await otherAuthority(up.now() + 1000 * day)
        const { url, port } = await balance(up, {}, { ca })
        await serversAt(up, port, '127.0.0.1')
        kubeconfigFor(up, url, ca.pem)
      },
    },
    {
      id: 'I02',
      what: 'our kubeconfig trusts another CA',
      make: async up => kubeconfigFor(up, up.config.server, await other(up)),
    },
    {
      id: 'I13',
      what: 'each CA stands where the other belongs',
      async make(up) {
        const ca = await otherAuthority(up.now() + 1000 * day)
        const { url, port } = await balance(up, {}, { ca })
        await serversAt(up, port, '127.0.0.1')
        await clientTrust(up, ca.pem)
        kubeconfigFor(up, url, ca.pem)
      },
    },
    {
      id: 'I18',
      what: 'our kubeconfig is of the CA before',
      async make(up) {
        const before = await otherAuthority(up.now() + 1000 * day)
        await clientTrust(up, before.pem + ownCa(up))
        const { certificate, key } = await client(
          up,
          { commonName: 'admin', now: up.now() - 9 * day, lifetime: 1000 * day },
          before,
        )
        const { url } = await balance(up)
        kubeconfigFor(up, url, ownCa(up), {
          clientCertificate: { pem: certificate },
          clientKey: { pem: key },
        })
      },
    },
    {
      id: 'Z04',
      what: 'who looks has no rights',
      make: up => kubeconfigOf(up, { commonName: 'nobody' }),
    },
    {
      id: 'Z05',
      what: 'our own certificate has ended',
      make: up => kubeconfigOf(up, { organizations: ['system:masters'], now: up.now() - 2 * day }),
    },
  ] satisfies Omit<Fault, 'args'>[]
).map(fault => ({ ...fault, args: withOther }))
