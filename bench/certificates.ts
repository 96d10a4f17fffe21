// What one certificate costs the server, from the POST to the certificate on a watch, as a kubelet asks for it: on
// connections that stay open, and on a connection of its own, with a whole handshake and a resumed one. Besides, how soon
// after its start an empty server has given the first, and its memory after all. node bench/certificates.ts [COUNT]
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { rate, startStorm } from './join-storm.ts'
import { line, residentMemory, whole } from './measure.ts'
import { requests } from './requests.ts'

const WARM_UP = 1000
/** 6,000 in all. */
const COUNT = Number(process.argv[2] ?? 2000)
const NEW = (COUNT * 3) / 4

const asked = await requests(1 + WARM_UP + COUNT + 2 * NEW, 'client')
const take = (count: number) => asked.splice(0, count)
const folder = temporaryFolder()
const began = performance.now()
const server = startRollcall(['server', '--dir', folder.path, '--port', '0'])
await server.ready
const serverProcess = server.child.pid ?? 0
const storm = await startStorm(folder.path, serverProcess)
for (const first of take(1)) await storm.certify(first)
const firstAfter = (performance.now() - began) / 1000
await storm.onKept(take(WARM_UP))
const kept = await storm.onKept(take(COUNT))
const inFull = await storm.onNew(take(NEW), 'whole')
const resumed = await storm.onNew(take(NEW), 'resumed')
const memory = residentMemory(serverProcess)
storm.close()
await server.stop()
folder.remove()

line(
  'certificates',
  `server CPU each, POST to watch: connection kept ${rate(kept)}, new with a resumed handshake ${rate(resumed)}, with a whole one ${rate(inFull)}; ` +
    `${whole(memory)} MiB resident after ${whole(1 + WARM_UP + COUNT + 2 * NEW)}; the first ${firstAfter.toFixed(2)} s after the start of the process`,
  'targets: kept ≤ 1.2 ms, new and resumed ≤ 2.0 ms, ≥ 300/s, ≤ 350 MiB after 6,000, first ≤ 1 s',
)
