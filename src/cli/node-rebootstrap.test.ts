import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { Command } from 'commander'
import { asynchronousDisk, MachineDisk } from '../fleet/simulated/disk.ts'
import { SeededRandom } from '../fleet/simulated/random.ts'
import { isStatus } from '../kube/client.ts'
import { parseKubeconfig, selectContext } from '../kube/kubeconfig.ts'
import { resources, type Secret } from '../kube/types.ts'
import type { Disk } from '../ports.ts'
import { runCommand } from '../testing/command-run.ts'
import { startEmbeddedCluster } from '../testing/embedded-cluster.ts'
import type { CommandIo } from './command-io.ts'
import { register } from './node-rebootstrap.ts'

async function onCluster(
  body: (
    run: (...words: string[]) => ReturnType<typeof runCommand>,
    parts: {
      cluster: Awaited<ReturnType<typeof startEmbeddedCluster>>
      disk: Disk
    },
  ) => Promise<void>,
): Promise<void> {
  const cluster = await startEmbeddedCluster()
  const disk = asynchronousDisk(new MachineDisk(new SeededRandom('disk'), cluster.clock), async call =>
    call(),
  )
  await disk.makeDirectory('/root', 0o700)
  await cluster.admin.create(resources.configMaps, {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name: 'kube-root-ca.crt', namespace: 'kube-system' },
    data: { 'ca.crt': 'PEM' },
  })
  const ports = { random: new SeededRandom('rebootstrap'), disk }
  const registered = (program: Command, io: CommandIo) => register(program.command('node'), io, ports)
  try {
    await body(
      (...words) => runCommand(registered, cluster.admin, cluster.clock, 'node', 'rebootstrap', ...words),
      {
        cluster,
        disk,
      },
    )
  } finally {
    await cluster.close()
  }
}

test('report 22: a node without any credential gets a bootstrap kubeconfig for an hour, and the steps', () =>
  onCluster(async (run, { cluster, disk }) => {
    const { stdout } = await run('node-a', '--out', '/root/b.conf')
    const { mode } = await disk.stat('/root/b.conf')
    assert.equal(mode, 0o600)
    const { user } = selectContext(
      parseKubeconfig(new TextDecoder().decode(await disk.read('/root/b.conf')), '/root/b.conf'),
    )
    const [id, secret] = user.token?.reveal().split('.') ?? []
    assert.ok(id && secret && stdout.includes(id) && !stdout.includes(secret))
    const target = { name: `bootstrap-token-${id}`, namespace: 'kube-system' }
    const { data } = await cluster.admin.get<Secret>(resources.secrets, target)
    const expiration = Buffer.from(data?.expiration ?? '', 'base64').toString()
    assert.equal(Date.parse(expiration) - cluster.clock.now(), 3_600_000)
    assert.match(stdout, /scp [\s\S]*node repair[\s\S]*restart kubelet/)
  }))

test('a node that is Ready is left alone unless --force; --delete-node makes way where a policy denies', () =>
  onCluster(async (run, { cluster }) => {
    await cluster.admin.create(resources.nodes, {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name: 'node-a' },
    })
    const conditions = [{ type: 'Ready', status: 'True' }]
    const target = { name: 'node-a', subresource: 'status' }
    await cluster.admin.patch(resources.nodes, target, 'merge', { status: { conditions } })
    const { exitCode, stderr } = await run('node-a', '--out', '/root/c.conf')
    assert.equal(exitCode, 3)
    assert.match(stderr, /is Ready/)
    await run('node-a', '--out', '/root/c.conf', '--force', '--delete-node')
    await assert.rejects(cluster.admin.get(resources.nodes, { name: 'node-a' }), error =>
      isStatus(error, 'NotFound'),
    )
  }))
