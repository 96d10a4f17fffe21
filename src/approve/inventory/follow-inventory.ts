/** Keeps the inventory as its object or file has it. */
import { hasCode, systemCode } from '../../errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import { startReflector } from '../../kube/reflector.ts'
import { type ConfigMap, resources, type Secret } from '../../kube/types.ts'
import { type Clock, type Disk, type Log, type Random, sleep } from '../../ports.ts'
import type { InventoryLocation } from '../policy.ts'
import { readSettled } from '../read-settled.ts'
import { Inventory } from './inventory.ts'
import { parseInventory } from './parse-inventory.ts'

export interface FollowInventory {
  location: InventoryLocation
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  /** For a file. */
  disk?: Pick<Disk, 'read'> | undefined
  watchTimeoutSeconds?: number | undefined
  /** It says something else than before. */
  onChange(): void
}

export interface FollowedInventory {
  readonly inventory: Inventory
  /** Resolves when it was read once, or could not be. */
  readonly settled: Promise<void>
  stop(): Promise<void>
}

/** Milliseconds between two looks at a file. */
const FILE_INTERVAL = 10_000
/** What a file held that cannot be read now: no text is this, so what comes back is read anew. */
const gone = '\0'

export function followInventory(options: FollowInventory): FollowedInventory {
  const { configMap, secret, file } = options.location
  if (configMap !== undefined) return followObject(options, 'ConfigMap', configMap)
  if (secret !== undefined) return followObject(options, 'Secret', secret)
  return followFile(options, file ?? '')
}

function followObject(
  options: FollowInventory,
  kind: 'ConfigMap' | 'Secret',
  path: string,
): FollowedInventory {
  const { client, clock, random, log, watchTimeoutSeconds, onChange } = options
  const [namespace = '', name = ''] = path.split('/')
  const inventory = new Inventory(`inventory ${kind} ${path}`)
  const reader = readerOf(inventory, log, onChange)
  const missing = () => reader.lose('does not exist')
  const reflector = startReflector<ConfigMap | Secret>({
    client,
    resource: kind === 'Secret' ? resources.secrets : resources.configMaps,
    selectors: { namespace, fieldSelector: `metadata.name=${name}` },
    clock,
    random,
    log,
    ...(watchTimeoutSeconds && { watchSeconds: watchTimeoutSeconds }),
    onChange(type, object) {
      if (type === 'DELETED') missing()
      else reader.read(textsOf(object, kind))
    },
  })
  const settled = reflector.synced.then(() => {
    if (reflector.hasSynced() && reflector.list().length === 0) missing()
  })
  return { inventory, settled, stop: () => reflector.stop() }
}

function textsOf(object: ConfigMap | Secret, kind: 'ConfigMap' | 'Secret'): Record<string, string> {
  const data = Object.entries(object.data ?? {})
  return Object.fromEntries(
    data.map(([key, value]) => [key, kind === 'Secret' ? Buffer.from(value, 'base64').toString() : value]),
  )
}

function followFile({ clock, disk, log, onChange }: FollowInventory, path: string): FollowedInventory {
  const inventory = new Inventory(`inventory ${path}`)
  const reader = readerOf(inventory, log, onChange)
  const stopping = new AbortController()
  const first = Promise.withResolvers<void>()
  let before: string | undefined

  async function look(): Promise<void> {
    try {
      if (!disk) throw new Error('no disk to read files from')
      const text = await readSettled(path, before, { disk, clock, signal: stopping.signal })
      if (text !== before) reader.read({ [path]: text })
      before = text
    } catch (error) {
      if (before !== undefined) before = gone
      reader.lose(`cannot be read (${systemCode(error) ?? String(error)})`)
    }
  }

  async function run(): Promise<void> {
    while (!stopping.signal.aborted) {
      await look()
      first.resolve()
      await sleep(clock, FILE_INTERVAL, stopping.signal)
    }
  }

  const running = run()
  return {
    inventory,
    settled: first.promise,
    stop() {
      stopping.abort()
      return running
    },
  }
}

/** I9: malformed content changes nothing, the last good one goes on to count. */
function readerOf(inventory: Inventory, log: Log, onChange: () => void) {
  let lost: string | undefined
  let good = false
  const lose = (why: string) => {
    if (lost !== why) log.warn(`${inventory.name} ${why}; serving requests wait`)
    lost = why
    good = false
    inventory.lose(why)
    onChange()
  }
  return {
    lose,
    read(texts: Record<string, string>): void {
      try {
        inventory.read(parseInventory(texts))
        good = true
        lost = undefined
        onChange()
      } catch (error) {
        if (!hasCode(error, 'INVENTORY_INVALID')) throw error
        if (good)
          log.warn(`${inventory.name} is malformed, its last good content goes on to count`, {
            error: error.message,
          })
        else lose(`is malformed: ${error.message}`)
      }
    },
  }
}
