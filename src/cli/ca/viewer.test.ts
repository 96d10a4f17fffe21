import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { test } from 'node:test'
import { parse } from 'yaml'
import { caRotation } from '../../kube/rollcall/ca-rotation.ts'
import { trustConsumer } from '../../kube/rollcall/trust-consumer.ts'
import { runCommand } from '../../testing/command-run.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'
import { consumerObject } from '../../trust/consumer-object.ts'
import { podConsumers } from '../../trust/pod-consumers.ts'
import { register } from './ca.ts'

const viewer = new URL('../../../deploy/rbac/rollcall-viewer.yaml', import.meta.url)

test(
  'readiness, plan and status need the role rollcall-viewer and no more, write nothing, and tell what a pod needs',
  onCluster(async ({ admin, as, grant, clock }) => {
    await grant('vera', parse(readFileSync(viewer, 'utf8')).rules)
    const vera = await as('vera')
    const [pod] = podConsumers(
      [
        {
          apiVersion: 'v1',
          kind: 'Pod',
          metadata: { name: 'web', namespace: 'default', uid: 'u-1' },
          spec: { volumes: [{ configMap: { name: 'kube-root-ca.crt' } }] },
        },
      ],
      { generation: 1, tokenSecrets: new Set(), now: clock.now() },
    )
    assert(pod)
    const { status, ...object } = consumerObject(pod, 'apiserver-serving', 'Live')
    const stored = await admin.create(trustConsumer.ref, object)
    await admin.update(trustConsumer.ref, { ...stored, status } as never, { subresource: 'status' })

    const ca = (...words: string[]) => runCommand(register, vera, clock, 'ca', ...words)
    const { stdout, exitCode } = await ca('readiness', 'apiserver-serving')
    assert.equal(exitCode, 3)
    assert.match(stdout, /^roll today and you lose 1 of 1: pod\/web u-1\n/)
    assert.match(
      stdout,
      /pod\/web u-1 +Pod +Blocker +counts once it is restarted two minutes after publication/,
    )
    assert.match((await ca('plan', 'client')).stdout, /^CA 1 of client would give way to CA 2/)
    await ca('status')
    assert.deepEqual((await admin.list(caRotation.ref)).items, [])
    await assert.rejects(ca('start', 'client'), /forbidden/)
  }),
)
