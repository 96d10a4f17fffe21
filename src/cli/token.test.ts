import assert from 'node:assert/strict'
import { test } from 'node:test'
import { inProcessTransport } from '../apiserver/in-process-transport.ts'
import { RollcallError } from '../errors.ts'
import { createClient, isStatus } from '../kube/client.ts'
import { parseKubeconfig, selectContext } from '../kube/kubeconfig.ts'
import { type ConfigMap, resources, type Secret } from '../kube/types.ts'
import { runCommand } from '../testing/command-run.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../testing/embedded-cluster.ts'
import { whoAmI } from '../testing/who-am-i.ts'
import { register } from './token.ts'

let cluster: EmbeddedCluster

/** A test with a cluster of its own. */
function testCommand(name: string, body: () => Promise<void>): void {
  test(name, async t => {
    cluster = await startEmbeddedCluster()
    t.after(() => cluster.close())
    await body()
  })
}

const token = (...words: string[]) => runCommand(register, cluster.admin, cluster.clock, 'token', ...words)

/** What the API says to whoever holds the token. */
async function whoIs(bearer: string): Promise<string> {
  const headers = { authorization: `Bearer ${bearer}` }
  const client = createClient(inProcessTransport(cluster.api, { remoteAddress: '127.0.0.1' }, headers))
  const user = await whoAmI(client)
  return `${user?.username} ${user?.groups?.join(',')}`
}

testCommand('create prints a token that the API takes, for as long as it was made for', async () => {
  const { stdout } = await token('create', '--ttl', '2h')
  assert.match(stdout, /^[a-z0-9]{6}\.[a-z0-9]{16}\n$/)
  assert.match(await whoIs(stdout.trim()), /^system:bootstrap:[a-z0-9]{6} .*kubeadm:default-node-token/)
  cluster.clock.step(2 * 3_600_000 + 1000)
  await assert.rejects(whoIs(stdout.trim()), error => isStatus(error, 'Unauthorized'))
})

testCommand('a token without an end has no expiration, as kubeadm makes it', async () => {
  const made = JSON.parse((await token('create', '--ttl', '0', '-o', 'json')).stdout)
  assert.deepEqual(Object.keys(made), ['id', 'token'])
  const name = `bootstrap-token-${made.id}`
  const { data } = await cluster.admin.get<Secret>(resources.secrets, { name, namespace: 'kube-system' })
  assert.ok(data && !('expiration' in data))
})

testCommand('ls never shows the secret part', async () => {
  const { stdout: made } = await token('create', '--groups', 'system:bootstrappers:pool-a')
  const { stdout } = await token('ls')
  assert.match(stdout, /abcdef +24h +2026-03-02T12:00:00Z +authentication,signing/)
  assert.match(stdout, /pool-a/)
  for (const secret of ['0123456789abcdef', made.trim().split('.')[1] ?? 'none']) {
    assert.ok(!stdout.includes(secret))
    assert.ok(!(await token('ls', '-o', 'json')).stdout.includes(secret))
  }
})

testCommand('rm takes ids and whole tokens', async () => {
  assert.equal((await token('rm', 'abcdef.0123456789abcdef')).stdout, 'removed token abcdef\n')
  await assert.rejects(token('rm', 'abcdef'), /there is no token abcdef/)
  await assert.rejects(token('rm', 'ABCDEF.secretsecret'), (error: unknown) => {
    return error instanceof RollcallError && error.code === 'USAGE' && !error.message.includes('secretsecret')
  })
})

testCommand('--print-kubeconfig prints all that a node needs to join', async () => {
  const info = `apiVersion: v1\nkind: Config\nclusters:\n- name: ""\n  cluster:\n    server: https://lb.example:6443\n    certificate-authority-data: ${Buffer.from(cluster.ca.pem).toString('base64')}\n`
  const target = { name: 'cluster-info', namespace: 'kube-public' }
  await cluster.admin.patch<ConfigMap>(resources.configMaps, target, 'merge', { data: { kubeconfig: info } })
  const { stdout } = await token('create', '--print-kubeconfig')
  const { cluster: to, user } = selectContext(parseKubeconfig(stdout, 'stdout'))
  assert.equal(to.server, 'https://lb.example:6443')
  assert.match(await whoIs(user.token?.reveal() ?? ''), /^system:bootstrap:/)
  const authority = to.certificateAuthority
  assert.equal(authority && 'data' in authority && authority.data.reveal(), cluster.ca.pem)
})

testCommand('flags that the API would not take are refused before anything is made', async () => {
  const before = (await token('ls')).stdout
  for (const words of [
    ['--usages', 'singing'],
    ['--groups', 'system:masters'],
    ['--ttl', 'soon'],
  ])
    await assert.rejects(
      token('create', ...words),
      (error: unknown) => error instanceof RollcallError && error.code === 'USAGE',
    )
  assert.equal((await token('ls')).stdout, before)
})
