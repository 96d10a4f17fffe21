import assert from 'node:assert/strict'
import { test } from 'node:test'
import { runSeed } from '../../src/fleet/simulated/scenario.ts'
import { freshCluster } from './fresh-cluster.ts'
import { runScript } from './own-process.ts'

const seed = '7'

test('a seed gives the same digest of all events again, also in another process; another seed gives another', async () => {
  const foundation = await freshCluster()
  const first = await runSeed({ foundation, seed })
  // What the first run left in caches must not show.
  const other = await runSeed({ foundation, seed: '8' })
  const again = await runSeed({ foundation, seed })
  const anew = await runSeed({ foundation: await freshCluster(), seed })
  assert.ok(first.events > 1000, `only ${first.events} events`)
  assert.equal(again.digest, first.digest)
  assert.equal(anew.digest, first.digest)
  assert.notEqual(other.digest, first.digest)

  const env = { ROLLCALL_SEED: seed, TZ: 'Pacific/Auckland', LC_ALL: 'tr_TR.UTF-8' }
  assert.match(await runScript('run-seeds.ts', env), new RegExp(`digest ${first.digest}`))
})
