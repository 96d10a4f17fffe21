import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { clientOf } from '../../src/cluster/demo/running-up.ts'
import { hasCode } from '../../src/errors.ts'
import type { SeededRandom } from '../../src/fleet/simulated/random.ts'
import { type KubeClient, listAll } from '../../src/kube/client.ts'
import { type ConfigMap, resources } from '../../src/kube/types.ts'

/** Content and revision of a stored ConfigMap, or that there is none. */
interface State {
  /** Absent: the ConfigMap is not there. */
  content?: string
  /** Known once the API acknowledged it or showed it. */
  revision?: number
}

const namespace = 'default'
const names = Array.from({ length: 8 }, (_, index) => `crash-${index}`)

/**
 * Writes ConfigMaps through the API, one request at a time, and remembers what was acknowledged. Whenever the API can be
 * reached again it compares: what was acknowledged must be there as it was (a request that got no answer may have
 * been carried out or not), and revisions only grow.
 */
export class Writer {
  readonly #directory: string
  readonly #random: SeededRandom
  /** The states that the API may show for each name: one, or two after a request without an answer. */
  readonly #allowed = new Map<string, State[]>(names.map(name => [name, [{}]]))
  #latestRevision = 0
  #content = 0
  #stopping = false
  #work: Promise<void> | undefined
  acknowledged = 0
  compared = 0

  constructor(directory: string, random: SeededRandom) {
    this.#directory = directory
    this.#random = random
  }

  start(): void {
    this.#stopping = false
    this.#work = this.#run()
    this.#work.catch(() => {}) // `stop` tells
  }

  /** Rejects with what the writer found wrong. */
  async stop(): Promise<void> {
    this.#stopping = true
    await this.#work
  }

  /** One comparison with an API that runs; throws when something acknowledged is lost. */
  async compare(client: KubeClient): Promise<void> {
    const { items, metadata } = await listAll<ConfigMap>(client, resources.configMaps, { namespace })
    const revision = Number(metadata.resourceVersion)
    if (revision < this.#latestRevision)
      throw new Error(`the API is at revision ${revision}, but ${this.#latestRevision} was acknowledged`)
    for (const name of names) {
      const found = stateOf(items.find(({ metadata }) => metadata.name === name))
      const allowed = this.#allowed.get(name) ?? []
      if (!allowed.some(state => agrees(state, found))) {
        throw new Error(
          `ConfigMap ${name} is ${JSON.stringify(found)}; acknowledged or under way: ${JSON.stringify(allowed)}`,
        )
      }
      this.#allowed.set(name, [found])
    }
    this.compared += 1
  }

  async #run(): Promise<void> {
    while (!this.#stopping) {
      await this.#session().catch(error => {
        // No answer: the API is killed or not up yet. Anything else is what this writer is here to find.
        if (!hasCode(error, 'API_UNREACHABLE')) throw error
      })
      await setTimeout(20)
    }
  }

  async #session(): Promise<void> {
    const kubeconfig = join(this.#directory, 'admin.kubeconfig')
    if (!existsSync(kubeconfig)) return
    const { client, transport } = await clientOf(kubeconfig)
    try {
      await this.compare(client)
      while (!this.#stopping) {
        await this.#write(client, this.#random.pick(names))
        await setTimeout(this.#random.integer(0, 15))
      }
    } finally {
      transport.closeConnections()
    }
  }

  async #write(client: KubeClient, name: string): Promise<void> {
    const [state = {}] = this.#allowed.get(name) ?? []
    const remove = state.content !== undefined && this.#random.chance(0.2)
    const next: State = remove ? {} : { content: `content ${++this.#content}` }
    this.#allowed.set(name, [state, next]) // until there is an answer
    if (remove) await client.delete(resources.configMaps, { name, namespace })
    else next.revision = await put(client, name, state, next.content ?? '')
    this.#allowed.set(name, [next])
    if (next.revision !== undefined) {
      if (next.revision <= this.#latestRevision)
        throw new Error(`revision ${next.revision} was given after ${this.#latestRevision}`)
      this.#latestRevision = next.revision
    }
    this.acknowledged += 1
  }
}

async function put(client: KubeClient, name: string, state: State, content: string): Promise<number> {
  const object: ConfigMap = {
    apiVersion: 'v1',
    kind: 'ConfigMap',
    metadata: { name, namespace },
    data: { content },
  }
  const stored =
    state.content === undefined
      ? await client.create(resources.configMaps, object)
      : await client.update(resources.configMaps, object)
  return Number(stored.metadata.resourceVersion)
}

function stateOf(object: ConfigMap | undefined): State {
  if (!object) return {}
  return { content: object.data?.content ?? '', revision: Number(object.metadata.resourceVersion) }
}

function agrees(allowed: State, found: State): boolean {
  return (
    allowed.content === found.content &&
    (allowed.revision === undefined || allowed.revision === found.revision)
  )
}
