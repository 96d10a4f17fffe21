// Durable writes a second of the storage, beside what the disk itself gives: write of one small record + fdatasync.
import { fdatasyncSync, openSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { openSqliteStore } from '../src/apiserver/storage/sqlite-store.ts'
import { systemClock } from '../src/host/clock.ts'
import { systemDisk } from '../src/host/disk.ts'
import { silentLog } from '../src/ports.ts'
import { temporaryFolder } from '../test/support/rollcall-process.ts'
import { inParallel, line, measured, median, micros, whole } from './measure.ts'

/** Bytes; about a stored CertificateSigningRequest. */
const SIZE = 2000
const value = new Uint8Array(SIZE).fill(120)
const folder = temporaryFolder()
const store = await openSqliteStore({
  path: join(folder.path, 'state.db'),
  clock: systemClock,
  disk: systemDisk,
  log: silentLog,
})

async function write(prefix: string, count: number, width: number) {
  const keys = Array.from({ length: count }, (_, index) => `/${prefix}/${index}`)
  const { wall, cpu } = await measured(() =>
    inParallel(keys, width, async key => {
      const result = await store.write({ key, expect: 0, value })
      if (!result.ok) throw new Error(`${key} is there`)
    }),
  )
  return { perSecond: (1000 * count) / wall, cpu: cpu / count }
}

function rawSyncs(count: number): number {
  const file = openSync(join(folder.path, 'raw'), 'w')
  const began = performance.now()
  for (let index = 0; index < count; index += 1) {
    writeSync(file, value)
    fdatasyncSync(file)
  }
  return (1000 * count) / (performance.now() - began)
}

await write('warm-up', 2000, 64)
const many = await write('many', 20_000, 256)
// In turns, so that both meet the same disk: others may use it too.
const turns: { one: number; raw: number }[] = []
for (let turn = 0; turn < 7; turn += 1) {
  turns.push({ one: (await write(`one-${turn}`, 200, 1)).perSecond, raw: rawSyncs(200) })
}
const one = median(turns.map(turn => turn.one))
const raw = median(turns.map(turn => turn.raw))
await store.close()
folder.remove()
line(
  'storage',
  `${whole(many.perSecond)} durable writes/s of ${SIZE} B with 256 under way (${micros(many.cpu)} CPU each), ${whole(one)}/s one after the other`,
  `write + fdatasync of ${SIZE} B ${whole(raw)}/s; writes under way at the same time share one`,
)
