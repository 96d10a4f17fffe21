// Whether a certificate costs the same however many requests are stored: node bench/certificates-stored.ts [FEW] [MANY]
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { type Cost, rate, startStorm } from './join-storm.ts'
import { line, whole } from './measure.ts'
import { clientOf, makeOldDatabase } from './old-database.ts'
import { requests } from './requests.ts'

const [FEW, MANY] = [Number(process.argv[2] ?? 1000), Number(process.argv[3] ?? 100_000)]
const WARM_UP = 2000
const COUNT = 2000
/** Milliseconds. Younger than what is cleaned away. */
const AGE = 60_000

/** With `stored` answered requests in the store, all of which were looked at. */
async function costWith(stored: number): Promise<Cost> {
  const folder = temporaryFolder()
  await makeOldDatabase(folder.path, stored, AGE)
  const server = startRollcall(['server', '--dir', folder.path, '--port', '0'])
  await server.ready
  const admin = await clientOf(folder.path, 'admin.kubeconfig')
  while (!/^rollcall_csr_stored\{/m.test(await admin.client.raw('/metrics')));
  admin.close()
  const storm = await startStorm(folder.path, server.child.pid ?? 0)
  const asked = await requests(WARM_UP + COUNT, 'client', 500_000)
  await storm.onKept(asked.splice(0, WARM_UP))
  const cost = await storm.onKept(asked)
  storm.close()
  await server.stop()
  folder.remove()
  return cost
}

const few = await costWith(FEW)
const many = await costWith(MANY)
line(
  'certificates, stored',
  `server CPU each on a kept connection: with ${whole(FEW)} stored ${rate(few)}, with ${whole(MANY)} ${rate(many)}`,
  'target: the same',
)
