import { join } from 'node:path'
import { connectionOf } from '../support/api-connection.ts'
import { startRollcall, temporaryFolder } from '../support/rollcall-process.ts'
import type { ServerUnderTest } from './server-under-test.ts'

/** `rollcall server` as a process of its own, without controllers: nothing but the API writes. */
export async function startRollcallServer(
  name = 'rollcall server',
): Promise<ServerUnderTest & { folder: string }> {
  const folder = temporaryFolder()
  const directory = join(folder.path, 'data')
  const rollcall = startRollcall([
    'server',
    '--dir',
    directory,
    '--port',
    '0',
    '--no-dashboard',
    '--no-controllers',
  ])
  const stop = async () => {
    await rollcall.stop()
    folder.remove()
  }
  try {
    await rollcall.ready
    const config = await connectionOf(join(directory, 'admin.kubeconfig'))
    const { server, certificateAuthority: ca, clientCertificate } = config
    if (!ca || !clientCertificate) throw new TypeError('the administrator’s kubeconfig has no certificates')
    return { name, folder: directory, url: server, ca, adminCredential: clientCertificate, stop }
  } catch (error) {
    await stop()
    throw error
  }
}
