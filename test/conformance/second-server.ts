import { startRollcallServer } from './rollcall-server.ts'
import type { Reviewed } from './sequences/reviewed.ts'
import type { ServerUnderTest } from './server-under-test.ts'

/** Another instance of ours must answer the same in everything. */
export async function secondServer(): Promise<{ server: ServerUnderTest; reviewed: readonly Reviewed[] }> {
  return { server: await startRollcallServer('another rollcall server'), reviewed: [] }
}
