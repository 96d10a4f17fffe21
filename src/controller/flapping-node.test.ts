import assert from 'node:assert/strict'
import { test } from 'node:test'
import { calm, onCluster } from '../testing/controlled-cluster.ts'

test(
  'a node that changes its addresses all the time is judged by what they are, seconds later at most',
  onCluster(async cluster => {
    await cluster.start()
    await cluster.register('a', [['InternalIP', '10.0.0.2']])
    const name = await cluster.ask({ by: await cluster.node('a'), node: 'a', ips: ['10.0.0.1'] })
    for (let count = 0; count < 15; count++) await cluster.register('a', [['InternalIP', `10.0.1.${count}`]])
    await cluster.register('a', [['InternalIP', '10.0.0.1']])
    assert.equal(await cluster.fate(name), 'pending')
    await cluster.register('b', [['InternalIP', '10.0.0.3']])
    const other = await cluster.ask({ by: await cluster.node('b'), node: 'b', ips: ['10.0.0.3'] })
    assert.equal(await cluster.fate(other), 'Approved SansProven, issued')
    await cluster.clock.advance(5_000)
    await calm()
    assert.equal(await cluster.fate(name), 'Approved SansProven, issued')
  }),
)
