/**
 * A Kubernetes API server that is not ours, as far as its certificates go: a program whose serving pair and client CAs are
 * files, which it reads at its start and when it gets SIGHUP. Usage: node stock-api.ts FOLDER
 */
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createTokenIssuer } from '../../src/apiserver/access/authentication/service-account/token-issuer.ts'
import { bootstrapPolicy } from '../../src/apiserver/access/bootstrap-policy.ts'
import { createAccess } from '../../src/apiserver/access/create-access.ts'
import { createApi } from '../../src/apiserver/create-api.ts'
import { serve } from '../../src/apiserver/http/server.ts'
import { inProcessTransport } from '../../src/apiserver/in-process-transport.ts'
import { createObjectReader } from '../../src/apiserver/object-reader.ts'
import { allResources } from '../../src/apiserver/resources/index.ts'
import { createMemoryStore } from '../../src/apiserver/storage/memory-store.ts'
import { publishClusterInfo } from '../../src/cluster/cluster-info.ts'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { issuePair } from '../../src/cluster/issue-pair.ts'
import { seed, storedPolicy } from '../../src/cluster/seed.ts'
import { kubeadmBindings, seedNamespaces } from '../../src/cluster/seed-objects.ts'
import { controllerRules, rolloverRules, tokenRules } from '../../src/controller/rbac.ts'
import { generateSigner, loadSigner } from '../../src/keys/private-key.ts'
import { Secret } from '../../src/keys/secret.ts'
import { createClient } from '../../src/kube/client.ts'
import { resources } from '../../src/kube/types.ts'
import { silentLog } from '../../src/ports.ts'
import { authorityOf } from '../../src/sign/authority.ts'
import { parseCertificatesPem } from '../../src/x509/certificate.ts'
import { decodePem } from '../../src/x509/pem.ts'

const [folder = ''] = process.argv.slice(2)
const { clock, random } = hostPorts
const file = (name: string) => readFileSync(join(folder, name), 'utf8')
const pairIn = (id: string) => ({ id, certificate: file(`${id}.crt`), key: new Secret(file(`${id}.key`)) })

/** As kube-apiserver's --tls-cert-file, --tls-sni-cert-key (twice) and --client-ca-file. */
function readFiles() {
  const byName = ['probe-0', 'probe-1'].filter(id => existsSync(join(folder, `${id}.crt`))).map(pairIn)
  return { serving: pairIn('serving'), byName, clientCas: file('client-ca.crt') }
}
let files = readFiles()

const store = createMemoryStore({ clock })
const reader = createObjectReader(store)
const tokenIssuer = createTokenIssuer({ signer: generateSigner('ECDSA-P256', random) })
const access = createAccess({
  reader,
  clock,
  log: silentLog,
  clientCertificateAuthorities: files.clientCas,
  tokenIssuer,
})
const tokens = { issuer: tokenIssuer, server: () => '' }
const api = createApi({
  store,
  reader,
  access,
  resources: allResources,
  clock,
  random,
  log: silentLog,
  tokens,
})

const pem = file('ca.crt')
const ca = { pem, ...authorityOf(pem, loadSigner(new Secret(file('ca.key')))) }
const masters = { commonName: 'setup', organizations: ['system:masters'], usage: 'client auth' } as const
const { certificate } = await issuePair(ca, { ...masters, lifetime: 3_600_000, now: clock.now() }, random)
const certificates = decodePem(certificate).map(({ bytes }) => bytes)
const setup = createClient(inProcessTransport(api, { certificates, remoteAddress: '127.0.0.1' }))
await seed(setup, [...seedNamespaces, ...kubeadmBindings()])
const policyResources = [
  resources.clusterRoles,
  resources.clusterRoleBindings,
  resources.roles,
  resources.roleBindings,
]
const rbac = 'rbac.authorization.k8s.io'
const policy = [
  ...bootstrapPolicy(),
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRole',
    metadata: { name: 'rollcall' },
    rules: [
      ...controllerRules,
      ...rolloverRules,
      ...tokenRules,
      // For the places that the test's file names.
      { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'create'] },
      {
        apiGroups: ['certificates.k8s.io'],
        resources: ['clustertrustbundles'],
        verbs: ['get', 'create', 'update'],
      },
      { apiGroups: ['certificates.k8s.io'], resources: ['signers'], verbs: ['attest'] },
    ],
  },
  {
    apiVersion: `${rbac}/v1`,
    kind: 'ClusterRoleBinding',
    metadata: { name: 'rollcall' },
    roleRef: { apiGroup: rbac, kind: 'ClusterRole', name: 'rollcall' },
    subjects: [{ kind: 'User', apiGroup: rbac, name: 'rollcall' }],
  },
]
await seed(
  setup,
  policy.flatMap(object => {
    const resource = policyResources.find(({ kind }) => kind === object.kind)
    return resource ? [{ resource, object }] : []
  }),
)
if (storedPolicy(reader).length === 0) throw new Error('no policy was stored')

const running = await serve({
  api,
  port: 0,
  tls: { ...files.serving, clientCertificateAuthorities: files.clientCas },
  chains: {
    forConnection: () => files.serving,
    forName: name =>
      files.byName.find(({ certificate: text }) => {
        return parseCertificatesPem(text)[0]?.subjectAltName.dnsNames.includes(name)
      }),
    clientCertificateAuthorities: () => files.clientCas,
  },
  clock,
  log: silentLog,
})
const server = `https://127.0.0.1:${running.port}`
await publishClusterInfo(setup, server, pem)
process.on('SIGHUP', () => {
  files = readFiles()
  access.setClientCertificateAuthorities(files.clientCas)
})
process.on('SIGTERM', async () => {
  await api.close()
  await running.close()
  process.exit(0)
})
writeFileSync(join(folder, 'pid'), `${process.pid}\n`)
process.stdout.write(`ready ${server}\n`)
