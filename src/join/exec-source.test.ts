import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { systemDisk } from '../host/disk.ts'
import { systemSpawn } from '../host/spawn.ts'
import { Secret } from '../keys/secret.ts'
import type { ExecConfig, KubeconfigCluster } from '../kube/kubeconfig.ts'
import type { Spawn } from '../ports.ts'
import { createManualClock } from '../testing/manual-clock.ts'
import { createExecCredential } from './exec-source.ts'

const v1 = 'client.authentication.k8s.io/v1'
const cluster: KubeconfigCluster = {
  server: 'https://192.0.2.1:6443',
  insecureSkipTlsVerify: false,
  certificateAuthority: { data: new Secret('PEM') },
  tlsServerName: 'api.example',
}
const clock = createManualClock(Date.parse('2026-05-01T00:00:00Z'))

/** Runs `script` as the plugin, for real. */
function acquire(script: string, changes: Partial<ExecConfig> = {}, spawn: Spawn = systemSpawn) {
  const exec: ExecConfig = {
    apiVersion: v1,
    command: '/bin/sh',
    args: ['-c', script],
    env: [],
    provideClusterInfo: false,
    interactiveMode: 'Never',
    ...changes,
  }
  const environment = { PATH: '/usr/bin:/bin', INHERITED: 'yes' }
  return createExecCredential({ spawn, disk: systemDisk, clock, nodeName: 'node-a', environment })(
    exec,
    cluster,
  )
}
const answer = (status: object, apiVersion = v1) =>
  `echo '${JSON.stringify({ kind: 'ExecCredential', apiVersion, status })}'`
const refused = async (attempt: Promise<unknown>) => {
  try {
    await attempt
  } catch (error) {
    assert.ok(hasCode(error, 'CREDENTIAL_UNAVAILABLE'), String(error))
    return error.message
  }
  return 'accepted'
}

test('a token, or a certificate with its key, is taken and stays secret', async () => {
  const token = await acquire(answer({ token: 'T', expirationTimestamp: '2026-05-01T00:00:01Z' }))
  assert.equal(token.bearerToken?.reveal(), 'T')
  const pair = await acquire(answer({ clientCertificateData: 'C', clientKeyData: 'K' }))
  assert.deepEqual([pair.clientCertificate?.certificate, pair.clientCertificate?.key.reveal()], ['C', 'K'])
  assert.ok(!JSON.stringify([token, pair]).includes('"K"'))
})

test('the plugin gets its environment, and KUBERNETES_EXEC_INFO with a newline at the end', async () => {
  const script = `test "$INHERITED $OWN $ROLLCALL_NODE_NAME" = "yes mine node-a" || exit 9
    printf '{"kind":"ExecCredential","apiVersion":"${v1}","status":{"token":"%s"}}' "$(printf %s "$KUBERNETES_EXEC_INFO" | base64 -w0)"`
  const env = [
    { name: 'OWN', value: 'mine' },
    { name: 'KUBERNETES_EXEC_INFO', value: 'overridden' },
  ]
  const infoOf = async (provideClusterInfo: boolean) => {
    const { bearerToken } = await acquire(script, { env, provideClusterInfo })
    return JSON.parse(Buffer.from(bearerToken?.reveal() ?? '', 'base64').toString()) as object
  }
  const plain = { kind: 'ExecCredential', apiVersion: v1, spec: { interactive: false } }
  assert.deepEqual(await infoOf(false), plain)
  const told = {
    server: cluster.server,
    'tls-server-name': 'api.example',
    'certificate-authority-data': Buffer.from('PEM').toString('base64'),
    config: null,
  }
  assert.deepEqual(await infoOf(true), { ...plain, spec: { interactive: false, cluster: told } })
})

test('every answer that cannot be used is refused with its reason, and nothing of it is shown', async () => {
  const cases: [script: string, expected: RegExp][] = [
    ['exit 7', /executable \/bin\/sh failed with exit code 7$/],
    ['kill -TERM $$', /failed with exit code 143$/],
    ['echo s3cret', /wrote no JSON to stdout$/],
    [`echo '{"token":"s3cret"}'`, /gave no ExecCredential$/],
    [
      answer({ token: 's3cret' }, 'client.authentication.k8s.io/v1beta1'),
      /is configured to use API version client\.authentication\.k8s\.io\/v1, but returned version client\.authentication\.k8s\.io\/v1beta1$/,
    ],
    [`echo '{"kind":"ExecCredential","apiVersion":"${v1}"}'`, /gave no status$/],
    [answer({}), /gave neither a token nor a certificate with its key$/],
    [answer({ clientCertificateData: 's3cret' }), /gave only a certificate or only a key, not both$/],
    [answer({ token: 5 }), /gave a token that is no string$/],
    [
      answer({ token: 's3cret', expirationTimestamp: 'soon' }),
      /gave an expirationTimestamp that is no time$/,
    ],
    [
      answer({ token: 's3cret', expirationTimestamp: '2026-04-30T23:59:59Z' }),
      /gave a credential that expired at 2026-04-30T23:59:59\.000Z$/,
    ],
  ]
  for (const [script, expected] of cases) {
    const message = await refused(acquire(script))
    assert.match(message, expected)
    assert.ok(!message.includes('s3cret'))
  }
  assert.match(await refused(acquire('', { command: '/no/such/plugin' })), /\/no\/such\/plugin not found$/)
  assert.match(await refused(acquire('', { interactiveMode: 'Always' })), /needs a terminal/)
})

test('a plugin that hangs is ended with all it started after 60 s, which client-go does not do', async () => {
  let running: (() => void) | undefined
  const begun = new Promise<void>(resolve => {
    running = resolve
  })
  const spawn: Spawn = {
    ...systemSpawn,
    run: order => {
      const result = systemSpawn.run(order)
      running?.()
      return result
    },
  }
  const attempt = refused(acquire('sleep 3600 & sleep 3600', {}, spawn))
  await begun
  await clock.advance(60_000)
  assert.match(await attempt, /did not answer within 60 s$/)
  assert.equal(clock.pending(), 0)
})

test('a plugin that writes without end is ended', async () => {
  assert.match(await refused(acquire('exec cat /dev/zero')), /failed with exit code 137$/)
})
