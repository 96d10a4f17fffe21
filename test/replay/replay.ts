/** Plays a recorded session against the embedded API and tells in what the answers differ. */
import { Buffer } from 'node:buffer'
import { inProcessTransport } from '../../src/apiserver/in-process-transport.ts'
import { timestamp } from '../../src/apiserver/object-name.ts'
import type { ApiResponse, Transport } from '../../src/kube/transport.ts'
import { type CertificateSigningRequest, resources } from '../../src/kube/types.ts'
import { type EmbeddedCluster, startEmbeddedCluster } from '../../src/testing/embedded-cluster.ts'
import { comparable } from './comparable.ts'
import { type Difference, differencesOf, Symbols } from './compare.ts'
import { encodeKubernetesProtobuf } from './encode-protobuf.ts'
import type { Exchange, Meanwhile, Step } from './exchange.ts'

export type Told = Difference & { n: number }

/** Of whoever is no administrator. */
const groups: Readonly<Record<string, string[]>> = {
  'system:node:worker-1': ['system:nodes'],
  'system:kube-controller-manager': [],
  'system:serviceaccount:kube-system:certificate-controller': [
    'system:serviceaccounts',
    'system:serviceaccounts:kube-system',
  ],
}

/** That of the embedded cluster of our tests. */
const bootstrapToken = 'Bearer abcdef.0123456789abcdef'

/** What the recorded cluster had besides: the service of its API, and whom it trusts. */
const service = {
  apiVersion: 'v1',
  kind: 'Service',
  metadata: {
    name: 'kubernetes',
    namespace: 'default',
    labels: { component: 'apiserver', provider: 'kubernetes' },
  },
  spec: { ports: [{ name: 'https', port: 443, targetPort: 17443 }], clusterIP: '10.96.0.1' },
}

const trusted = {
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name: 'extension-apiserver-authentication', namespace: 'kube-system' },
}

export async function replay(steps: readonly Step[]): Promise<Told[]> {
  const cluster = await startEmbeddedCluster()
  const player = new Player(cluster)
  try {
    await cluster.admin.create(resources.services, service)
    await cluster.admin.create(resources.configMaps, trusted)
    for (const step of steps) await player.play(step)
    return await player.end()
  } finally {
    await cluster.close()
  }
}

interface OpenWatch {
  exchange: Exchange
  lines: Promise<unknown[]>
}

class Player {
  readonly #cluster: EmbeddedCluster
  readonly #symbols: Symbols
  readonly #transports = new Map<string, Transport>()
  readonly #watches: OpenWatch[] = []
  readonly #ended = new AbortController()
  readonly #told: Told[] = []

  constructor(cluster: EmbeddedCluster) {
    this.#cluster = cluster
    this.#symbols = new Symbols(timestamp(cluster.clock.now()), cluster.ca.pem)
  }

  async play(step: Step): Promise<void> {
    if ('n' in step) await this.#exchange(step)
    else await meanwhile(this.#cluster, this.#symbols.fillAll(step) as Meanwhile)
  }

  /** Ends the watches and compares what they saw. */
  async end(): Promise<Told[]> {
    await new Promise(resolve => setImmediate(resolve))
    this.#ended.abort()
    for (const { exchange, lines } of this.#watches) {
      const seen = await lines
      if (exchange.events) this.#compare(exchange, 'events', exchange.events, seen)
    }
    return this.#told
  }

  async #exchange(exchange: Exchange): Promise<void> {
    const { method, status, type, cacheControl, answer } = exchange
    const headers = { ...exchange.headers }
    const body = bodyOf(this.#symbols.fillAll(exchange.body), headers['content-type'])
    const transport = await this.#transport(exchange.as)
    const url = this.#symbols.fill(exchange.url)
    const response = await transport.request({ method, url, headers, ...body, signal: this.#ended.signal })
    const { 'content-type': ourType, 'cache-control': ourCache } = response.headers
    this.#compare(exchange, 'status', status, response.status)
    this.#compare(exchange, 'type', type, ourType)
    if (cacheControl) this.#compare(exchange, 'cacheControl', cacheControl, ourCache)
    if (/[?&]watch=true/.test(url)) this.#watches.push({ exchange, lines: linesOf(response) })
    else if (answer !== undefined)
      this.#compare(exchange, 'answer', ...comparable(answer, await bodyText(response), this.#symbols))
  }

  #compare({ n }: Exchange, path: string, recorded: unknown, ours: unknown): void {
    for (const one of differencesOf(this.#symbols, recorded, ours, path)) this.#told.push({ n, ...one })
  }

  async #transport(who: string): Promise<Transport> {
    const known = this.#transports.get(who)
    if (known) return known
    const made = await transportOf(this.#cluster, who)
    this.#transports.set(who, made)
    return made
  }
}

function transportOf(cluster: EmbeddedCluster, who: string): Transport | Promise<Transport> {
  const anonymous = { remoteAddress: '127.0.0.1' }
  if (who === 'system:anonymous') return inProcessTransport(cluster.api, anonymous)
  if (who === 'bearer') return inProcessTransport(cluster.api, anonymous, { authorization: bootstrapToken })
  return cluster.transportAs(who, ...(groups[who] ?? ['system:masters']))
}

async function meanwhile({ admin, ca }: EmbeddedCluster, step: Meanwhile): Promise<void> {
  const { certificateSigningRequests: csrs } = resources
  const { approve, issue = '', reason, message } = step
  const request = await admin.get<CertificateSigningRequest>(csrs, { name: approve ?? issue })
  const { status = {} } = request
  if (approve) {
    const condition = {
      type: 'Approved',
      status: 'True' as const,
      ...(reason && { reason }),
      ...(message && { message }),
    }
    const next = { ...request, status: { ...status, conditions: [condition] } }
    await admin.update(csrs, next, { subresource: 'approval' })
    return
  }
  // Any certificate will do: nobody here looks into it.
  const certificate = Buffer.from(ca.pem).toString('base64')
  await admin.update(csrs, { ...request, status: { ...status, certificate } }, { subresource: 'status' })
}

function bodyOf(body: unknown, type: string | undefined): { body?: Uint8Array } {
  if (body === undefined) return {}
  if (type !== 'application/vnd.kubernetes.protobuf') return { body: Buffer.from(JSON.stringify(body)) }
  return { body: encodeKubernetesProtobuf(body as Record<string, unknown>) }
}

async function bodyText(response: ApiResponse): Promise<string> {
  if (response.body instanceof Uint8Array) return Buffer.from(response.body).toString()
  throw new Error('a stream where the recording has a whole body')
}

/** The events of a watch, until it ends. */
async function linesOf({ body }: ApiResponse): Promise<unknown[]> {
  const chunks: Uint8Array[] = []
  try {
    for await (const chunk of body instanceof Uint8Array ? [body] : body) chunks.push(chunk)
  } catch (error) {
    if (!(error instanceof Error && error.name === 'AbortError')) throw error
  }
  const text = Buffer.concat(chunks).toString().trimEnd()
  return text === '' ? [] : text.split('\n').map(line => JSON.parse(line))
}
