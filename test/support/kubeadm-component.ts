/**
 * A component of a control plane as far as its certificates go, on the embedded API: what kube-apiserver reads again and what the
 * others read once. Usage: node kubeadm-component.ts FLAGS, under the name of the component.
 */
import { readFileSync } from 'node:fs'
import { createServer } from 'node:https'
import { basename } from 'node:path'
import { createTokenIssuer } from '../../src/apiserver/access/authentication/service-account/token-issuer.ts'
import { bootstrapPolicy } from '../../src/apiserver/access/bootstrap-policy.ts'
import { createAccess } from '../../src/apiserver/access/create-access.ts'
import { createApi } from '../../src/apiserver/create-api.ts'
import { serve } from '../../src/apiserver/http/server.ts'
import { inProcessTransport } from '../../src/apiserver/in-process-transport.ts'
import { createObjectReader } from '../../src/apiserver/object-reader.ts'
import { allResources } from '../../src/apiserver/resources/index.ts'
import { openSqliteStore } from '../../src/apiserver/storage/sqlite-store.ts'
import { publishClusterInfo } from '../../src/cluster/cluster-info.ts'
import { publishClientCas } from '../../src/cluster/extension-authentication.ts'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { issuePair } from '../../src/cluster/issue-pair.ts'
import { seed } from '../../src/cluster/seed.ts'
import { kubeadmBindings, seedNamespaces } from '../../src/cluster/seed-objects.ts'
import { startControllers } from '../../src/controller/start-controllers.ts'
import { generateSigner, loadSigner } from '../../src/keys/private-key.ts'
import { Secret } from '../../src/keys/secret.ts'
import { createClient } from '../../src/kube/client.ts'
import { resources, signerNames } from '../../src/kube/types.ts'
import { connectUndici } from '../../src/kube/undici-transport.ts'
import { silentLog } from '../../src/ports.ts'
import { authorityOf } from '../../src/sign/authority.ts'
import { foreignPair } from '../../src/testing/https-server.ts'
import { parseCertificatesPem } from '../../src/x509/certificate.ts'
import { decodePem } from '../../src/x509/pem.ts'
import { connectionOf } from './api-connection.ts'

const { clock, random, disk } = hostPorts
const words = process.argv.slice(2).map(word => /^--([^=]+)=(.*)$/.exec(word) ?? [])
const values = (name: string) => words.flatMap(([, flag, value = '']) => (flag === name ? [value] : []))
const flag = (name: string) => values(name)[0] ?? ''
const text = (path: string) => readFileSync(path, 'utf8')
const pairOf = (id: string, certificate: string, key: string) => {
  return { id, certificate: text(certificate), key: new Secret(text(key)) }
}

process.on('SIGTERM', () => process.exit(0))
const component = basename(process.argv0)
if (component === 'kube-apiserver') await apiserver()
else {
  const { certificate: cert, key } = await foreignPair(component)
  createServer({ cert, key }, (_, answer) => answer.end('ok')).listen(
    Number(flag('secure-port')),
    '127.0.0.1',
  )
  if (component === 'kube-controller-manager') await manager()
}

async function apiserver(): Promise<void> {
  const store = await openSqliteStore({ path: flag('etcd-servers'), clock, disk, log: silentLog })
  const reader = createObjectReader(store)
  const clientCas = () => text(flag('client-ca-file'))
  const issuer = createTokenIssuer({ signer: generateSigner('ECDSA-P256', random) })
  const access = createAccess({
    reader,
    clock,
    log: silentLog,
    clientCertificateAuthorities: clientCas(),
    tokenIssuer: issuer,
  })
  const tokens = { issuer, server: () => '' }
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
  // In the process itself, by a CA that nobody else is trusted by: at the first start alone there is nothing yet.
  const pki = flag('service-account-key-file').replace(/sa\.pub$/, '')
  const pem = text(`${pki}ca.crt`)
  const ca = { pem, ...authorityOf(pem, loadSigner(new Secret(text(`${pki}ca.key`)))) }
  const masters = { commonName: 'setup', organizations: ['system:masters'], usage: 'client auth' } as const
  const own = await issuePair(ca, { ...masters, lifetime: 3_600_000, now: clock.now() }, random)
  access.setClientCertificateAuthorities(pem)
  const certificates = decodePem(own.certificate).map(({ bytes }) => bytes)
  const setup = createClient(inProcessTransport(api, { certificates, remoteAddress: '127.0.0.1' }))
  const policies = [
    resources.clusterRoles,
    resources.clusterRoleBindings,
    resources.roles,
    resources.roleBindings,
  ]
  await seed(setup, seedNamespaces)
  await seed(setup, [
    ...bootstrapPolicy().flatMap(object => {
      const resource = policies.find(({ kind }) => kind === object.kind)
      return resource ? [{ resource, object }] : []
    }),
    ...kubeadmBindings(),
  ])
  const target = { name: 'cluster-info', namespace: 'kube-public' }
  const isThere = await setup.get(resources.configMaps, target).then(
    () => true,
    () => false,
  )
  if (!isThere) await publishClusterInfo(setup, `https://127.0.0.1:${flag('secure-port')}`, pem)
  await publishClientCas(setup, clientCas(), clock.now())
  access.setClientCertificateAuthorities(clientCas())

  const serving = () =>
    pairOf(text(flag('tls-cert-file')), flag('tls-cert-file'), flag('tls-private-key-file'))
  const named = (name: string) =>
    values('tls-sni-cert-key').find(pair => {
      const [leaf] = parseCertificatesPem(text(pair.split(',')[0] ?? ''))
      return leaf?.subjectAltName.dnsNames.includes(name)
    })
  await serve({
    api,
    port: Number(flag('secure-port')),
    tls: { ...serving(), clientCertificateAuthorities: clientCas() },
    chains: {
      forConnection: serving,
      forName(name) {
        const [certificate, key] = named(name)?.split(',') ?? []
        return certificate === undefined || key === undefined
          ? undefined
          : pairOf(text(certificate), certificate, key)
      },
      clientCertificateAuthorities: clientCas,
    },
    clock,
    log: silentLog,
  })
  let judgedBy = clientCas()
  setInterval(() => {
    if (clientCas() === judgedBy) return
    judgedBy = clientCas()
    access.setClientCertificateAuthorities(judgedBy)
  }, 200)
}

/** Reads its files once, as it starts. */
async function manager(): Promise<void> {
  const client = createClient(connectUndici(await connectionOf(flag('kubeconfig'))))
  const certificate = text(flag('cluster-signing-cert-file'))
  const signer = loadSigner(new Secret(text(flag('cluster-signing-key-file'))))
  const signers = Object.fromEntries(Object.values(signerNames).map(name => [name, { certificate, signer }]))
  startControllers({
    client,
    clock,
    random,
    log: silentLog,
    signers,
    certificateLifetimeSeconds: 86_400,
    rootCertificates: text(flag('root-ca-file')),
    only: ['signing', 'root-ca-publishing', 'bootstrap-signing', 'token-cleaning'],
  })
}
