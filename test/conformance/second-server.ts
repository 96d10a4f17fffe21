import { controlPlane, noAssets } from '../assets/folder.ts'
import { startKubeApiserver } from '../assets/kube-apiserver.ts'
import { startRollcallServer } from './rollcall-server.ts'
import { type Reviewed, reviewed } from './sequences/reviewed.ts'
import type { ServerUnderTest } from './server-under-test.ts'

/** What ours is held against: a kube-apiserver where there is one; else another instance, which must answer the same in everything. */
export async function secondServer(): Promise<{ server: ServerUnderTest; reviewed: readonly Reviewed[] }> {
  if (noAssets(...controlPlane))
    return { server: await startRollcallServer('another rollcall server'), reviewed: [] }
  return { server: await startKubeApiserver(), reviewed }
}
