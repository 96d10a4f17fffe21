/** A process that writes for ever and prints the key of each write that was acknowledged, until it is killed. */
import { systemClock } from '../../../host/clock.ts'
import { systemDisk } from '../../../host/disk.ts'
import { silentLog } from '../../../ports.ts'
import { openSqliteStore } from '../sqlite-store.ts'

const [path = ''] = process.argv.slice(2)
const store = await openSqliteStore({ path, clock: systemClock, disk: systemDisk, log: silentLog })

async function writer(name: string): Promise<never> {
  for (let n = 0; ; n++) {
    const key = `${name}/${n}`
    const result = await store.write({ key, expect: 0, value: Buffer.from(key.repeat(20)) })
    if (!result.ok) throw new Error(`${key} was there`)
    process.stdout.write(`${key} ${result.revision}\n`)
  }
}

await Promise.all(['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(writer))
