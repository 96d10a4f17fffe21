import assert from 'node:assert/strict'
import { test } from 'node:test'
import { type ConfigMap, resources } from '../../kube/types.ts'
import { onCluster } from '../../testing/controlled-cluster.ts'

const configMap = (name: string, data: Record<string, string>): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace: 'default' },
  data,
})

test(
  'a program in the same process hands over objects and gets the same as anybody who speaks JSON, events too',
  onCluster(async ({ admin, within }) => {
    const program = await within('admin', 'system:masters')
    const given = configMap('a', { one: '1' })
    const made = await program.create(resources.configMaps, given)
    assert.deepEqual(made, await admin.get(resources.configMaps, { namespace: 'default', name: 'a' }))
    assert.equal('uid' in given.metadata, false, 'what was handed over stays as it is')
    const ends = new AbortController()
    const options = {
      namespace: 'default',
      resourceVersion: made.metadata.resourceVersion ?? '',
      signal: ends.signal,
    }
    const seen = async (client: typeof admin) => {
      const events: unknown[] = []
      for await (const event of client.watch(resources.configMaps, options)) {
        events.push(event)
        if (event.type === 'DELETED') break
      }
      return events
    }
    const watching = [seen(program), seen(admin)]
    await program.update(resources.configMaps, { ...made, data: { one: '2' } })
    await program.delete(resources.configMaps, { namespace: 'default', name: 'a' })
    const [values, lines] = await Promise.all(watching)
    assert.deepEqual(values, lines)
    assert.equal(values?.length, 2)
    ends.abort()
  }),
)

test(
  'what a program in the same process hands over is judged as that of anybody',
  onCluster(async ({ within }) => {
    const program = await within('nobody')
    await assert.rejects(
      program.create(resources.secrets, { ...configMap('a', {}), kind: 'Secret' }),
      /403 Forbidden/,
    )
    const master = await within('admin', 'system:masters')
    await assert.rejects(master.create(resources.configMaps, configMap('No_Name', {})), /422 Invalid/)
  }),
)
