import assert from 'node:assert/strict'
import { test } from 'node:test'
import { onCluster } from './testing/examined-cluster.ts'

test(
  'of a node whose kubelet did not answer nothing is OK that is told by what it presents; of one that answers without a certificate all is known',
  onCluster(async cluster => {
    await cluster.register('off', [['InternalIP', '127.0.4.9']])
    const gathered = await cluster.gather()
    const statuses = (failure: string) => {
      const value = [{ node: 'off', host: '127.0.4.9', port: 10250, chain: [], failure }]
      const { checks } = cluster.judge({ ...gathered, probes: { status: 'ok', value } })
      return ['B11', 'G07', 'G10', 'G12'].map(id => checks.find(check => check.id === id)?.status)
    }
    assert.deepEqual(statuses('connect ECONNREFUSED 127.0.4.9:10250'), ['SKIP', 'SKIP', 'SKIP', 'SKIP'])
    assert.deepEqual(statuses('remote error: tls: internal error'), ['OK', 'OK', 'OK', 'OK'])
  }),
)
