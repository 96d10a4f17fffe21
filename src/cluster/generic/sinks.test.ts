import assert from 'node:assert/strict'
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { RollcallError } from '../../errors.ts'
import { systemSpawn } from '../../host/spawn.ts'
import { encodeKubeconfig } from '../../kube/encode-kubeconfig.ts'
import { resources } from '../../kube/types.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'
import { hostPorts } from '../host-ports.ts'
import { runHook } from './hook.ts'
import { sinkEntryOf } from './sink-entry.ts'
import { type SinkDoors, sinkOf } from './sinks.ts'
import { emptySnapshot } from './snapshot.ts'

const user = { tokenFile: '/token' }
const kubeconfig = (pem: string) =>
  encodeKubeconfig({ server: 'https://api', certificateAuthority: { pem }, user }).reveal()

test(
  'each kind of place holds what was written, whether or not it was there before, and nothing beside it is touched',
  onCluster(async ({ admin, ca }) => {
    const folder = mkdtempSync(join(tmpdir(), 'sinks-'))
    const here = (name: string) => join(folder, name)
    const doors: SinkDoors = {
      client: admin,
      disk: hostPorts.disk,
      now: () => emptySnapshot,
      publishRootCa: false,
      run: (name, hook, variables) =>
        runHook(name, hook, variables, { spawn: systemSpawn, clock: hostPorts.clock, directory: folder }),
      async bundleFile(_, pem) {
        writeFileSync(here('handed'), pem)
        return here('handed')
      },
    }
    try {
      const data = { kubeconfig: Buffer.from(kubeconfig('old')).toString('base64'), other: 'eA==' }
      const secret = {
        apiVersion: 'v1',
        kind: 'Secret',
        metadata: { name: 'join', namespace: 'kube-system' },
        data,
      }
      await admin.create(resources.secrets, secret as never)
      writeFileSync(here('kube.conf'), kubeconfig('old'), { mode: 0o640 })
      const shell = (script: string) => ({ command: ['/bin/sh', '-c', script] })
      const places = [
        { configMap: 'default/ca' },
        { secret: 'default/ca', key: 'root.pem' },
        { kubeconfigInSecret: 'kube-system/join' },
        { clusterTrustBundle: 'example.com' },
        { clusterTrustBundle: 'example.com:a:b', signerName: 'example.com/a' },
        { file: here('root.crt') },
        { kubeconfig: here('kube.conf') },
        { write: shell('cp "$ROLLCALL_BUNDLE" image'), read: shell('cat image') },
      ]
      for (const [index, place] of places.entries()) {
        const named = { name: `place-${index}`, ...place }
        const entry = sinkEntryOf(named, 'sinks', why => new RollcallError('USAGE', why))
        for (const pem of [ca.pem, `${ca.pem}# twice\n`]) {
          await sinkOf(entry, doors).write(pem)
          assert.deepEqual(await sinkOf(entry, doors).read(), [pem], JSON.stringify(place))
        }
      }
      assert.equal(statSync(here('kube.conf')).mode & 0o777, 0o640)
      assert.equal(statSync(here('root.crt')).mode & 0o777, 0o600, 'what is new is for its owner alone')
      assert.match(readFileSync(here('kube.conf'), 'utf8'), /tokenFile: \/token/)
      const target = { name: 'join', namespace: 'kube-system' }
      const { data: kept } = (await admin.get(resources.secrets, target)) as typeof secret
      assert.equal(kept.other, 'eA==')
    } finally {
      rmSync(folder, { recursive: true })
    }
  }),
)
