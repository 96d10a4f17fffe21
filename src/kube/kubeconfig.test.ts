import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inspect } from 'node:util'
import { parse } from 'yaml'
import { hasCode } from '../errors.ts'
import { Secret } from '../keys/secret.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { encodeKubeconfig } from './encode-kubeconfig.ts'
import { inClusterConfig } from './in-cluster.ts'
import { mergeKubeconfigs, parseKubeconfig, selectContext } from './kubeconfig.ts'
import { connectionConfig } from './kubeconfig-connection.ts'

const certificate = '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n'
const key = '-----BEGIN EC PRIVATE KEY-----\nBBBB\n-----END EC PRIVATE KEY-----\n'
const base64 = (text: string) => Buffer.from(text).toString('base64')

function disk(files: Record<string, string>) {
  return {
    async read(path: string) {
      const text = files[path]
      if (text === undefined) throw Object.assign(new Error(`no ${path}`), { code: 'ENOENT' })
      return new TextEncoder().encode(text)
    },
  }
}

function config(cluster: string, user: string): string {
  return `apiVersion: v1
kind: Config
current-context: c
contexts: [{name: c, context: {cluster: k, user: u}}]
clusters: [{name: k, cluster: {${cluster}}}]
users:
- {name: u, user: {${user}}}
- {name: unused, user: {username: somebody, password: hush}}
`
}

function load(text: string, files: Record<string, string> = {}) {
  const selected = selectContext(parseKubeconfig(text, '/etc/k/config'))
  return connectionConfig(selected, '/etc/k/config', { disk: disk(files), clock: createManualClock(0) })
}

function refused(field: string, text: string, files?: Record<string, string>) {
  return assert.rejects(
    async () => load(text, files),
    (error: unknown) => {
      assert.ok(hasCode(error, 'KUBECONFIG_INVALID'), String(error))
      assert.ok(error.message.startsWith(`/etc/k/config: ${field}`), error.message)
      assert.doesNotMatch(inspect(error, { depth: 9 }), /hush|BBBB/)
      return true
    },
  )
}

test('embedded data gives CA, certificate and key', async () => {
  const user = `client-certificate-data: ${base64(certificate)}, client-key-data: ${base64(key)}`
  const loaded = await load(
    config(
      `server: "https://a:6443", certificate-authority-data: ${base64(certificate)}, tls-server-name: b`,
      user,
    ),
  )
  assert.equal(loaded.clientCertificate?.key.reveal(), key)
  assert.doesNotMatch(inspect(loaded, { depth: 9 }), /BBBB/)
  assert.deepEqual(
    { ...loaded, clientCertificate: loaded.clientCertificate?.certificate },
    {
      server: 'https://a:6443',
      certificateAuthority: certificate,
      tlsServerName: 'b',
      clientCertificate: certificate,
    },
  )
})

test('files are taken from the folder of the kubeconfig, and one file may hold certificate and key', async () => {
  const both = 'client-certificate: pki/both.pem, client-key: pki/both.pem'
  const files = { '/etc/k/pki/both.pem': certificate + key, '/ca.crt': certificate }
  const loaded = await load(config('server: "https://a", certificate-authority: /ca.crt', both), files)
  assert.equal(loaded.certificateAuthority, certificate)
  assert.equal(loaded.clientCertificate?.certificate, certificate)
  assert.equal(loaded.clientCertificate?.key.reveal(), certificate + key)
})

test('data comes before a file of the same field', async () => {
  const loaded = await load(
    config(
      `server: "https://a", certificate-authority: /none, certificate-authority-data: ${base64('x')}`,
      '',
    ),
  )
  assert.equal(loaded.certificateAuthority, 'x')
})

test('a token file is read again after a minute and its last token survives a failure', async () => {
  const files: Record<string, string> = { '/etc/k/token': 'one\n' }
  const clock = createManualClock(0)
  const selected = selectContext(
    parseKubeconfig(config('server: "https://a"', 'tokenFile: token'), '/etc/k/config'),
  )
  const { readBearerToken } = await connectionConfig(selected, '', { disk: disk(files), clock })
  assert.equal((await readBearerToken?.())?.reveal(), 'one')
  files['/etc/k/token'] = 'two'
  assert.equal((await readBearerToken?.())?.reveal(), 'one')
  await clock.advance(60_000)
  assert.equal((await readBearerToken?.())?.reveal(), 'two')
  delete files['/etc/k/token']
  await clock.advance(60_000)
  assert.equal((await readBearerToken?.())?.reveal(), 'two')
})

test('a token file that was never readable is an unavailable credential', async () => {
  const { readBearerToken } = await load(config('server: "https://a"', 'tokenFile: token'))
  await assert.rejects(
    async () => readBearerToken?.(),
    error => hasCode(error, 'CREDENTIAL_UNAVAILABLE'),
  )
})

test('what cannot be used is named by its field, without its value', async () => {
  const server = 'server: "https://a"'
  await refused('line 2 is not valid YAML', 'a: b\nc: hush: {')
  await refused('the file is not a mapping', 'just text')
  await refused('clusters[name=k].cluster.server is missing', config('', ''))
  await refused('clusters[name=k].cluster.server is not a URL', config('server: "a:6443"', ''))
  await refused(
    'clusters[name=k].cluster.proxy-url is no URL',
    config(`${server}, proxy-url: "socks5://x"`, ''),
  )
  await refused(
    'clusters[name=k].cluster.insecure-skip-tls-verify is not true',
    config(`${server}, insecure-skip-tls-verify: yes please`, ''),
  )
  await refused(
    'clusters[name=k].cluster.insecure-skip-tls-verify contradicts',
    config(`${server}, insecure-skip-tls-verify: true, certificate-authority: x`, ''),
  )
  await refused('users[name=u].user.client-key is missing', config(server, 'client-certificate: x'))
  await refused(
    'users[name=u].user.client-key-data is not base64',
    config(server, 'client-certificate: x, client-key-data: "hush!"'),
  )
  await refused('users[name=u].user.password is not supported', config(server, 'password: hush'))
  await refused('users[name=u].user.token is not a string', config(server, 'token: [hush]'))
  await refused(
    'users[name=u].user.client-certificate names the file /x',
    config(server, 'client-certificate: /x, client-key: /x'),
  )
  await refused(
    'users[name=u].user.client-certificate holds no PEM',
    config(server, 'client-certificate: /x, client-key: /x'),
    { '/x': key },
  )
  await refused(
    'users[name=u].user.exec.interactiveMode',
    config(server, 'exec: {apiVersion: client.authentication.k8s.io/v1, command: x}'),
  )
  await refused('current-context is not set', 'kind: Config')
  await refused('contexts has no entry named "x"', 'current-context: x')
})

test('an exec plugin is run through the port, unless the user has a credential of its own', async () => {
  const exec =
    'exec: {apiVersion: client.authentication.k8s.io/v1, command: get, interactiveMode: Never, args: [a]}'
  const ports = {
    disk: disk({}),
    clock: createManualClock(0),
    execCredential: async ({ command, args }: { command: string; args: string[] }) => ({
      bearerToken: new Secret([command, ...args].join(' ')),
    }),
  }
  const token = async (user: string) => {
    const selected = selectContext(parseKubeconfig(config('server: "https://a"', user), '/x'))
    return (await connectionConfig(selected, '/x', ports)).bearerToken?.reveal()
  }
  assert.equal(await token(exec), 'get a')
  assert.equal(await token(`${exec}, token: own`), 'own')
  await refused('users[name=u].user.exec is a credential plugin', config('server: "https://a"', exec))
})

test('of several kubeconfigs the first to name something counts', () => {
  const one = parseKubeconfig('contexts: [{name: c, context: {cluster: k}}]', '/one')
  const two = parseKubeconfig(config('server: "https://two"', ''), '/two')
  const merged = mergeKubeconfigs([one, two])
  const selected = selectContext(merged)
  assert.equal(selected.cluster.server, 'https://two')
  assert.equal(selected.userName, '', "the first file's context names no user")
})

test('the kubeconfig of a bootstrapped node has the names kubelet gives it and refers to the files as given', () => {
  const pem = '/var/lib/kubelet/pki/kubelet-client-current.pem'
  const text = encodeKubeconfig({
    server: 'https://a:6443',
    certificateAuthority: { pem: certificate },
    user: { clientCertificate: { file: pem }, clientKey: { file: pem } },
  })
  assert.equal(String(text), '[secret]')
  assert.deepEqual(parse(text.reveal()), {
    apiVersion: 'v1',
    kind: 'Config',
    'current-context': 'default-context',
    clusters: [
      {
        name: 'default-cluster',
        cluster: { server: 'https://a:6443', 'certificate-authority-data': base64(certificate) },
      },
    ],
    contexts: [
      {
        name: 'default-context',
        context: { cluster: 'default-cluster', namespace: 'default', user: 'default-auth' },
      },
    ],
    users: [{ name: 'default-auth', user: { 'client-certificate': pem, 'client-key': pem } }],
  })
})

test('what is encoded is read back', async () => {
  const text = encodeKubeconfig({
    server: 'https://a:6443',
    insecureSkipTlsVerify: true,
    user: { clientCertificate: { pem: certificate }, clientKey: { pem: new Secret(key) } },
    names: { cluster: 'rollcall', user: 'admin', context: 'admin@rollcall' },
  })
  const loaded = await load(text.reveal())
  assert.equal(loaded.clientCertificate?.key.reveal(), key)
  assert.equal(loaded.insecureSkipTlsVerify, true)
  const withToken = await load(
    encodeKubeconfig({ server: 'https://a', user: { token: new Secret('t') } }).reveal(),
  )
  assert.equal(withToken.bearerToken?.reveal(), 't')
})

test('a pod reaches its cluster with its service account', async () => {
  const folder = '/var/run/secrets/kubernetes.io/serviceaccount'
  const ports = {
    disk: disk({ [`${folder}/ca.crt`]: certificate, [`${folder}/token`]: 't' }),
    clock: createManualClock(0),
  }
  const loaded = await inClusterConfig({ host: 'fd00::1', port: '443', ...ports })
  assert.equal(loaded.server, 'https://[fd00::1]:443')
  assert.equal(loaded.certificateAuthority, certificate)
  assert.equal((await loaded.readBearerToken?.())?.reveal(), 't')
  const outside = inClusterConfig({ host: undefined, port: undefined, ...ports })
  await assert.rejects(outside, error => hasCode(error, 'KUBECONFIG_INVALID'))
})
