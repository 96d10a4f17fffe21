// Memory of idle watches, as kubelets hold them: node bench/watches.ts [CONNECTIONS]
import type { ClientHttp2Session } from 'node:http2'
import { startRollcall, temporaryFolder } from '../test/support/rollcall-process.ts'
import { adminSessions } from './admin-session.ts'
import { inParallel, line, residentMemory, whole } from './measure.ts'

const CONNECTIONS = Number(process.argv[2] ?? 2000)
const watched = ['nodes', 'pods', 'services', 'configmaps', 'secrets']

/** Resolves when the answer has begun. */
function watch(session: ClientHttp2Session, plural: string): Promise<void> {
  return new Promise((resolve, reject) => {
    const path = `/api/v1/${plural}?watch=true&fieldSelector=metadata.name%3Dnone`
    const stream = session.request({ ':path': path })
    stream.on('response', ({ ':status': status }) =>
      status === 200 ? resolve() : reject(new Error(`${path}: ${status}`)),
    )
    // The connection is cut under it at the end.
    stream.on('error', reject)
    stream.resume()
  })
}

const folder = temporaryFolder()
const server = startRollcall(['server', '--dir', folder.path, '--port', '0'])
await server.ready
const serverProcess = server.child.pid ?? 0
const open = await adminSessions(folder.path)
const before = residentMemory(serverProcess)
const sessions: ClientHttp2Session[] = []
await inParallel([...Array(CONNECTIONS).keys()], 20, async () => {
  const session = open()
  sessions.push(session)
  await Promise.all(watched.map(plural => watch(session, plural)))
})
const after = residentMemory(serverProcess)
for (const session of sessions) session.destroy()
await server.stop()
folder.remove()
line(
  'watches',
  `${whole(CONNECTIONS)} connections with ${watched.length} idle watches each: ${whole(after)} MiB resident, ${whole((1024 * (after - before)) / CONNECTIONS)} KiB a connection`,
  'target ≤ 420 MiB; a bare node:http2 server took 117 KiB a connection with as many streams',
)
