/** Places and API servers that a file of `rollcall controller --rollover` names, read as its controller reads them. */
import { runHook } from '../../cluster/generic/hook.ts'
import { parseRolloverFile } from '../../cluster/generic/rollover-file.ts'
import { sinkOf } from '../../cluster/generic/sinks.ts'
import { emptySnapshot } from '../../cluster/generic/snapshot.ts'
import { hostPorts } from '../../cluster/host-ports.ts'
import { systemSpawn } from '../../host/spawn.ts'
import type { KubeClient } from '../../kube/client.ts'
import { readFile } from './roots.ts'
import type { ReadSink } from './sinks.ts'

export interface RolloverPlaces {
  sinks: readonly ReadSink[]
  /** HOST:PORT. */
  endpoints: readonly string[]
}

/** Nothing is written; `read` commands of the file are run. Rejects with USAGE. */
export async function readRolloverPlaces(client: KubeClient, path: string): Promise<RolloverPlaces> {
  const { sinks, apiServers, directory, publishRootCa } = parseRolloverFile(await readFile(path), path)
  const doors = {
    client,
    disk: hostPorts.disk,
    now: () => emptySnapshot,
    publishRootCa,
    run: (name: string, hook: Parameters<typeof runHook>[1], variables: Readonly<Record<string, string>>) =>
      runHook(name, hook, variables, { spawn: systemSpawn, clock: hostPorts.clock, directory }),
    bundleFile: () => Promise.reject(new TypeError('nothing is written by who only looks')),
  }
  const read = sinks
    .filter(({ role }) => role === 'apiserver-serving')
    .map(async (entry): Promise<ReadSink[]> => {
      try {
        const copies = await sinkOf(entry, doors).read()
        return copies.map(pem =>
          pem === '' ? { name: entry.name, problem: 'holds no CA' } : { name: entry.name, pem },
        )
      } catch (error) {
        return [{ name: entry.name, problem: error instanceof Error ? error.message : String(error) }]
      }
    })
  return {
    sinks: (await Promise.all(read)).flat(),
    endpoints: apiServers.map(({ host, port }) => `${host.includes(':') ? `[${host}]` : host}:${port}`),
  }
}
