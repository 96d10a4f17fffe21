import assert from 'node:assert/strict'
import { test } from 'node:test'
import { hasCode } from '../errors.ts'
import { type ConfigMap, resources } from '../kube/types.ts'
import { allOf } from '../testing/all-of.ts'
import { type ControlledCluster, onCluster } from '../testing/controlled-cluster.ts'
import { madeLeaf } from '../testing/made-leaf.ts'
import { configMapLedger } from './config-map-ledger.ts'
import type { Leaf } from './leaf.ts'

const hour = 3_600_000
/** Serial numbers are unique to their CA only: the same one of many CAs lands in the same ConfigMap. */
const ofCa = (number: number) => ({ issuerFingerprint: number.toString(16).padStart(8, '0').repeat(8) })

/** With the rights of the controllers and no others. */
const ledgerOn = ({ controllerClient: client, clock, log }: ControlledCluster) =>
  configMapLedger({ client, clock, log })

async function mapsOf({ admin }: ControlledCluster): Promise<ConfigMap[]> {
  const { items } = await admin.list<ConfigMap>(resources.configMaps, {
    namespace: 'kube-system',
    labelSelector: 'rollcall.dev/ledger=leaves',
  })
  return items
}

test(
  'what was recorded is read by another process; the same leaf twice is one',
  onCluster(async cluster => {
    const entry = madeLeaf(cluster.clock.now() + hour)
    const ledger = ledgerOn(cluster)
    await ledger.record(entry)
    const [{ metadata, data } = assert.fail()] = await mapsOf(cluster)
    assert.match(metadata.name, /^rollcall-ledger-[0-9a-f]{2}$/)
    assert.deepEqual(Object.keys(data ?? {}), ['0b5e1f.cccccccc'])
    await ledger.record(entry)
    const [same = assert.fail(), ...more] = await mapsOf(cluster)
    assert.equal(same.metadata.resourceVersion, metadata.resourceVersion, 'nothing was written')
    assert.equal(more.length, 0)
    const { fingerprint: _f, subject: _s, certificate: _c, request, ...leaf } = entry
    assert.deepEqual(await allOf(ledgerOn(cluster).issued), [{ ...leaf, request: { name: request.name } }])
  }),
)

test(
  'writers of the same ConfigMap at the same time lose nothing of each other',
  onCluster(async cluster => {
    const notAfter = cluster.clock.now() + hour
    const ledgers = [ledgerOn(cluster), ledgerOn(cluster)]
    const entries = Array.from({ length: 6 }, (_, number) => madeLeaf(notAfter, ofCa(number)))
    await Promise.all(entries.map((entry, number) => ledgers[number % 2]?.record(entry)))
    const read = await allOf(ledgerOn(cluster).issued)
    const cas = (leaves: readonly Leaf[]) => leaves.map(({ issuerFingerprint }) => issuerFingerprint).sort()
    assert.deepEqual(cas(read), cas(entries))
    assert.equal((await mapsOf(cluster)).length, 1)
  }),
)

test(
  'leaves that ended are not read; a day later the next write to their ConfigMap drops them',
  onCluster(async cluster => {
    const ledger = ledgerOn(cluster)
    const end = cluster.clock.now() + hour
    await ledger.record(madeLeaf(end, ofCa(1)))
    await cluster.clock.advance(hour)
    assert.deepEqual(await allOf(ledger.issued), [])
    const lines = async () => Object.keys((await mapsOf(cluster))[0]?.data ?? {}).length
    await cluster.clock.advance(24 * hour)
    await ledger.record(madeLeaf(end + 48 * hour, ofCa(2)))
    assert.equal(await lines(), 2)
    await cluster.clock.advance(1)
    await ledger.record(madeLeaf(end + 48 * hour, ofCa(3)))
    assert.equal(await lines(), 2)
  }),
)

test(
  'what somebody else wrote there is told, kept, and no leaf; one who has no more room is told which ConfigMap',
  onCluster(async cluster => {
    const ledger = ledgerOn(cluster)
    const entry = madeLeaf(cluster.clock.now() + hour)
    await ledger.record(entry)
    const [held = assert.fail()] = await mapsOf(cluster)
    await cluster.admin.update(resources.configMaps, {
      ...held,
      data: { ...held.data, foreign: 'x'.repeat(1_048_576 - 1_000) },
    })
    assert.equal((await allOf(ledger.issued)).length, 1)
    assert.deepEqual(cluster.log.lines, ['error: a line of the ledger cannot be read'])
    assert.deepEqual(cluster.log.fields, [
      { where: `ConfigMap kube-system/${held.metadata.name}, key foreign` },
    ])
    await ledger.record({ ...entry, ...ofCa(1) })
    const full = (error: unknown) =>
      hasCode(error, 'LEDGER_FULL') && error.message.includes(`kube-system/${held.metadata.name}`)
    await assert.rejects(ledger.record({ ...entry, ...ofCa(2) }), full)
    assert.equal((await allOf(ledger.issued)).length, 2)
  }),
)
