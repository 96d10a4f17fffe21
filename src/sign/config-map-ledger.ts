/** The ledger of leaves on any Kubernetes: 256 ConfigMaps kube-system/rollcall-ledger-XX, a line for each leaf. */
import { createHash } from 'node:crypto'
import { RollcallError } from '../errors.ts'
import { isStatus, type KubeClient, listAll } from '../kube/client.ts'
import { type ConfigMap, resources } from '../kube/types.ts'
import type { Clock, Log } from '../ports.ts'
import { encodeLeaf, forgottenBefore, type Leaf } from './leaf.ts'
import type { LastingLedger } from './ledger.ts'
import { keyOf, type LedgerReading, readLine } from './ledger-line.ts'

const namespace = 'kube-system'
const labels = { 'rollcall.dev/ledger': 'leaves' }
/** Bytes that Kubernetes lets the values of one ConfigMap have together; keys are counted in here too. */
const mostBytes = 1_048_576
/** Of writing one leaf, when others write to the same ConfigMap: five signing workers and a replica that is ending. */
const mostAttempts = 10
/** ConfigMaps that are read in one answer, each of up to a megabyte. */
const pageSize = 32

export interface ConfigMapLedgerOptions {
  /** May get, list, create and update ConfigMaps in kube-system. */
  client: KubeClient
  clock: Clock
  log: Log
}

/**
 * Writes with the resourceVersion that was read, so no leaf of another writer is lost. A leaf that ended more than a day
 * ago goes with the next write to its ConfigMap. `record` rejects with LEDGER_FULL when a ConfigMap holds no more.
 */
export function configMapLedger({ client, clock, log }: ConfigMapLedgerOptions): LastingLedger {
  async function write(leaf: Leaf): Promise<void> {
    const name = shardOf(leaf.serialNumber)
    const held = await client
      .get<ConfigMap>(resources.configMaps, { namespace, name })
      .catch(error => (isStatus(error, 'NotFound') ? undefined : Promise.reject(error)))
    const data = withLeaf(held?.data ?? {}, leaf, clock.now())
    if (!data) return
    requireRoom(name, data)
    if (!held) await client.create<ConfigMap>(resources.configMaps, { ...newMap(name), data })
    else {
      const metadata = { ...held.metadata, labels: { ...held.metadata.labels, ...labels } }
      await client.update<ConfigMap>(resources.configMaps, { ...held, metadata, data })
    }
  }

  async function* read(): AsyncGenerator<Leaf> {
    const { leaves, unreadable } = await readConfigMapLedger(client)
    for (const where of unreadable) log.error('a line of the ledger cannot be read', { where })
    const now = clock.now()
    for (const leaf of leaves) if (leaf.notAfter > now) yield leaf
  }

  return {
    async record(leaf) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await write(leaf)
        } catch (error) {
          if (attempt >= mostAttempts || !wasOvertaken(error)) throw error
        }
      }
    },
    issued: { [Symbol.asyncIterator]: read },
  }
}

/** All that the ledger holds; nothing where none was kept. Rejects with ApiStatusError Forbidden without the right. */
export async function readConfigMapLedger(client: KubeClient): Promise<LedgerReading> {
  const [labelSelector] = Object.entries(labels).map(([key, value]) => `${key}=${value}`)
  const { items } = await listAll<ConfigMap>(client, resources.configMaps, {
    namespace,
    ...(labelSelector && { labelSelector }),
    limit: pageSize,
  })
  const reading: LedgerReading = { leaves: [], unreadable: [] }
  for (const { metadata, data = {} } of items) {
    for (const [key, line] of Object.entries(data)) {
      const leaf = readLine(key, line)
      if (leaf) reading.leaves.push(leaf)
      else reading.unreadable.push(`ConfigMap ${namespace}/${metadata.name}, key ${key}`)
    }
  }
  return reading
}

/** By the first byte of the serial number's SHA-256, so that leaves spread evenly whatever the serials look like. */
function shardOf(serialNumber: string): string {
  const hash = createHash('sha256').update(serialNumber, 'hex').digest('hex')
  return `rollcall-ledger-${hash.slice(0, 2)}`
}

/** The data with the leaf and without those that are over; undefined when the leaf is there already. */
function withLeaf(
  data: Readonly<Record<string, string>>,
  leaf: Leaf,
  now: number,
): Record<string, string> | undefined {
  const key = keyOf(leaf)
  const line = encodeLeaf(leaf)
  if (data[key] === line) return undefined
  const kept = Object.entries(data).filter(([key, line]) => {
    const other = readLine(key, line)
    // What cannot be read is not ours to remove.
    return !other || other.notAfter >= forgottenBefore(now)
  })
  return { ...Object.fromEntries(kept), [key]: line }
}

function requireRoom(name: string, data: Readonly<Record<string, string>>): void {
  const bytes = Object.entries(data).reduce(
    (sum, [key, line]) => sum + Buffer.byteLength(key) + Buffer.byteLength(line),
    0,
  )
  if (bytes <= mostBytes) return
  throw new RollcallError(
    'LEDGER_FULL',
    `ConfigMap ${namespace}/${name} would take ${bytes} bytes of ${mostBytes} for ${Object.keys(data).length} living certificates, so no more is signed; find who asks for so many, or delete lines whose certificates are not in use`,
    { name, bytes },
  )
}

const newMap = (name: string): ConfigMap => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, namespace, labels },
})

/** Somebody else made, changed or deleted the ConfigMap between reading and writing. */
const wasOvertaken = (error: unknown) =>
  isStatus(error, 'Conflict') || isStatus(error, 'AlreadyExists') || isStatus(error, 'NotFound')
