import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { parseRolloverFile } from './rollover-file.ts'

const good = `
directory: /var/lib/rollcall
authorities:
  client: {certificate: /pki/ca.crt, key: 'pkcs11:token=ca;object=ca'}
apiServers:
  - {name: cp-1, address: '[fd00::1]:6443'}
  - {name: cp-2, address: cp-2.example:443}
hooks:
  present: {command: [/etc/rollcall/present, --now]}
sinks:
  - {name: join, kubeconfigInSecret: kube-system/join}
  - {name: kcm, file: /pki/root-ca.crt, restart: wait}
  - {name: images, write: {command: [/bin/write]}, read: {command: [/bin/read]}, role: client, seed: true}
`

test('what the file leaves out has its default: hooks wait for people, join data is a seed, roots lie in the folder', () => {
  const { hooks, sinks, apiServers, trustRoots, interval, authorities } = parseRolloverFile(good, 'r.yaml')
  assert.deepEqual(
    apiServers.map(({ host, port }) => [host, port]),
    [
      ['fd00::1', 6443],
      ['cp-2.example', 443],
    ],
  )
  assert.deepEqual(hooks, {
    present: { command: ['/etc/rollcall/present', '--now'], timeout: 120_000, attempts: 3 },
    clientTrust: 'wait',
  })
  assert.deepEqual(
    sinks.map(({ name, role, seed, kind }) => [name, role, seed, kind]),
    [
      ['join', 'apiserver-serving', true, 'kubeconfigIn'],
      ['kcm', 'apiserver-serving', false, 'file'],
      ['images', 'client', true, 'commands'],
    ],
  )
  assert.equal(authorities.client?.successorsInFiles, false, 'its key is in a token')
  assert.deepEqual([trustRoots.path, interval], ['/var/lib/rollcall/trust-roots', 3000])
})

const spoilt: readonly [string, string, RegExp][] = [
  ['directory: /var', 'directory: var', /directory must be an absolute path/],
  ['  client:', '  kubelet-serving:', /authorities has the unknown field "kubelet-serving"/],
  ['[/etc/rollcall/present, --now]', '[present]', /hooks.present.command\[0\] must be an absolute path/],
  ["object=ca'", "object=ca', successors: token", /authorities.client.successors must be files/],
  ['  present:', '  presnt:', /hooks has the unknown field "presnt"/],
  ['name: cp-2', 'name: cp-1', /two API servers are named "cp-1"/],
  ['cp-2.example:443', 'https://cp-2', /apiServers\[1\].address must be HOST:PORT/],
  ['kube-system/join', 'join', /sinks\[0\].kubeconfigInSecret must be NAMESPACE\/NAME/],
  ['kubeconfigInSecret: kube-system/join', 'restart: wait', /sinks\[0\] must be exactly one of configMap, /],
  ['restart: wait', 'signerName: a/b', /sinks\[1\].signerName is for clusterTrustBundle alone/],
  ['role: client,', 'role: kubelet-serving,', /sinks\[2\].role must be apiserver-serving or client/],
  ['command: [/bin/read]', 'command: [/bin/read], timeoutSeconds: 0', /must be a number from 1 to 3600/],
]

for (const [from, to, why] of spoilt)
  test(`a file with ${JSON.stringify(to)} is refused, and told where`, () => {
    assert(good.includes(from))
    assert.throws(
      () => parseRolloverFile(good.replace(from, to), 'r.yaml'),
      error => hasCode(error, 'USAGE') && why.test((error as Error).message),
    )
  })
