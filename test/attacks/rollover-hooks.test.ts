import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { GenericAdapter } from '../../src/cluster/generic/generic-adapter.ts'
import type { GenericControl } from '../../src/cluster/generic/generic-control.ts'
import { stateConfigMap } from '../../src/cluster/generic/generic-state.ts'
import { GenericTrust } from '../../src/cluster/generic/generic-trust.ts'
import { parseRolloverFile } from '../../src/cluster/generic/rollover-file.ts'
import { hostPorts } from '../../src/cluster/host-ports.ts'
import { CaStore } from '../../src/cluster/rollover/ca-store.ts'
import { openTrustRoots } from '../../src/cluster/rollover/trust-root.ts'
import { hasCode } from '../../src/errors.ts'
import { type ConfigMap, type Lease, resources } from '../../src/kube/types.ts'
import { type Disk, type SpawnOrder, silentLog } from '../../src/ports.ts'
import type { Effect } from '../../src/rollover/effects/effect.ts'
import { planIn } from '../../src/rollover/testing/quiet-cluster.ts'
import { onCluster } from '../../src/testing/controlled-cluster.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'

const evil = '../../../etc/shadow; touch /tmp/owned #'
const orders: readonly Effect[] = [
  { kind: 'publish-bundle', sink: evil, generation: 2 },
  { kind: 'present', server: evil, authority: 2, mode: 'bare' },
  { kind: 'client-trust', server: evil, generation: 2 },
  { kind: 'renew', holder: `kubeconfig/${evil}`, authority: 2, notBefore: 0 },
  { kind: 'load-bundle', consumer: `agent/${evil}`, generation: 2 },
  { kind: 'probe', consumer: `agent/${evil}`, authority: 2 },
]

test(
  'who may write anything in the API chooses no command, argument, path or address of controller --rollover',
  onCluster(async ({ admin, ca, clock }) => {
    const folder = mkdtempSync(join(tmpdir(), 'hooks-'))
    const written: string[] = []
    const run: SpawnOrder[] = []
    const disk: Disk = {
      ...hostPorts.disk,
      write(path, ...more) {
        written.push(path)
        return hostPorts.disk.write(path, ...more)
      },
    }
    try {
      const ports = { clock, random: seededRandom(4), disk }
      const file = parseRolloverFile(
        `directory: ${folder}
authorities: {client: {certificate: /ca.crt, key: /ca.key}}
apiServers: [{name: cp-1, address: '127.0.0.1:1'}]
hooks: {present: {command: [/bin/present]}, clientTrust: {command: [/bin/trust]}, probe: {command: [/bin/probe]}}`,
        'r.yaml',
      )
      const directory = join(folder, 'ca')
      const cas = new CaStore({ directory, first: ca, ...ports })
      await cas.load()
      await cas.create('client', 2)
      const roots = await openTrustRoots({ directory, path: join(folder, 'roots'), cluster: 'c', ...ports })
      const lease: Lease = {
        apiVersion: 'coordination.k8s.io/v1',
        kind: 'Lease',
        metadata: { name: 'rollcall-controller', namespace: 'kube-system' },
        spec: { holderIdentity: 'me' },
      }
      await admin.create(resources.leases, lease)
      const state = JSON.stringify({
        sinks: { [evil]: 9 },
        judgesBy: { [evil]: 9 },
        restarted: { [evil]: 9 },
        failed: [{ about: evil, message: evil, sequence: 1 }],
      })
      const spoilt: ConfigMap = {
        apiVersion: 'v1',
        kind: 'ConfigMap',
        metadata: stateConfigMap,
        data: { client: state, 'apiserver-serving': state },
      }
      await admin.create(resources.configMaps, spoilt)
      const control: GenericControl = {
        ...ports,
        file,
        cas: { client: cas },
        roots,
        trust: new GenericTrust({ client: admin, cas: { client: cas } }),
        client: admin,
        connection: { trusts: () => ca.pem, presents: () => undefined, clockSkew: () => 0 },
        identity: 'me',
        leaves: async () => [],
        longestLeaf: 0,
        spawn: {
          async run(order) {
            run.push(order)
            return { code: 0, stdout: new Uint8Array(), stderr: new Uint8Array() }
          },
        },
        log: silentLog,
      }
      const adapter = new GenericAdapter(control, 'client', cas)
      const plan = planIn('Distributing', { role: 'client' })
      await adapter.ceremony(plan)
      const seen = await adapter.gather(plan)
      assert.deepEqual(
        seen.servers.map(({ id }) => id),
        ['cp-1'],
      )
      const before = written.length
      for (const effect of orders) await adapter.carryOut({ effect, token: 9, sequence: 99 }).catch(() => {}) // refused is as good as ignored
      await adapter.finish({ ...plan, fencing: 9, sequence: 99 })
      assert.deepEqual(run, [])
      assert.deepEqual(written.slice(before), [])

      await adapter.carryOut({
        effect: { kind: 'client-trust', server: 'cp-1', generation: 2 },
        token: 9,
        sequence: 100,
      })
      assert.deepEqual(
        run.map(({ command, args }) => [command, args]),
        [['/bin/trust', []]],
      )
      assert(written.slice(before).every(path => path.startsWith(`${folder}/bundles/`)))

      const inToken = {
        certificate: '/ca.crt',
        key: { kind: 'file', path: '/' },
        successorsInFiles: false,
      } as const
      const careful = { ...control, file: { ...file, authorities: { client: inToken } } }
      const create = { effect: { kind: 'create-authority', authority: 9 }, token: 9, sequence: 101 } as const
      const refused = new GenericAdapter(careful, 'client', cas).carryOut(create)
      await assert.rejects(refused, error => hasCode(error, 'CA_NOT_PREPARED'))
      assert(!written.some(path => path.includes('ca-client-9')), 'no key leaves the token behind for a file')
    } finally {
      rmSync(folder, { recursive: true })
    }
  }),
)
