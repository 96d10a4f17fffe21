import type {
  ApiRequest,
  ApiResponse,
  Connect,
  ConnectionConfig,
  Peer,
  Transport,
} from '../../kube/transport.ts'
import { Call } from './call.ts'
import type { MachineProcess } from './machine.ts'
import type { SeededRandom } from './random.ts'
import { carryStream } from './stream.ts'
import { Handshakes } from './tls.ts'
import type { VirtualTime } from './virtual-time.ts'

/** What listens at an address: one process's request handler behind its current serving certificate. */
export interface Listener {
  process: MachineProcess
  /** PEM, leaf first; asked for at each handshake, so it may change. */
  certificate(): string
  handle(request: ApiRequest, peer: Peer): Promise<ApiResponse>
}

/** Probabilities per request, and the mean life of a stream; a scenario sets and clears them. */
export interface NetworkFaults {
  /** The connection breaks before the server got the request. */
  lostRequest: number
  /** The server did what was asked, and the connection breaks before the client knows. */
  lostAnswer: number
  /** The server gets the request a second time, as from a proxy that retries. */
  duplicated: number
  /** A message takes up to `longestDelay` instead of milliseconds. */
  delayed: number
  /** Milliseconds. */
  longestDelay: number
  /** Milliseconds; a stream breaks after a time drawn with this mean. */
  meanStreamLife: number
}

export const noNetworkFaults: NetworkFaults = {
  lostRequest: 0,
  lostAnswer: 0,
  duplicated: 0,
  delayed: 0,
  longestDelay: 0,
  meanStreamLife: Number.POSITIVE_INFINITY,
}

/** One way between two machines, in milliseconds. */
const LATENCY = { least: 0.2, most: 15 }
/** As kube/undici-transport.ts: how long a client waits for a host that is silent, and for the head of an answer. */
const CONNECT_TIMEOUT = 30_000
const HEADERS_TIMEOUT = 90_000

/** The network between all machines of a world. */
export class Network {
  faults: NetworkFaults = noNetworkFaults
  readonly #time: VirtualTime
  readonly #random: SeededRandom
  readonly #handshakes = new Handshakes()
  readonly #listeners = new Map<string, Listener>()

  constructor(time: VirtualTime, random: SeededRandom) {
    this.#time = time
    this.#random = random
  }

  /** `address`: host and port, as in `10.0.0.1:6443`. Ends with the process, or when the function returned is called. */
  listen(address: string, listener: Listener): () => void {
    this.#listeners.set(address, listener)
    const close = () => {
      if (this.#listeners.get(address) === listener) this.#listeners.delete(address)
    }
    listener.process.onEnd(close)
    return close
  }

  /** What a process on a machine connects with. */
  connectFrom(client: MachineProcess): Connect {
    return config => this.#transport(client, config)
  }

  #transport(client: MachineProcess, config: ConnectionConfig): Transport {
    const open = new Set<Call>()
    let chain: readonly Uint8Array[] | undefined
    /** Once per transport, which has one credential for good. Throws as TLS would. */
    const presented = () => {
      if (config.clientCertificate) chain ??= this.#handshakes.presentedChain(config.clientCertificate)
      return chain
    }
    return {
      request: async request => {
        const token = config.readBearerToken ? await config.readBearerToken() : config.bearerToken
        const headers = { ...request.headers, ...(token && { authorization: `Bearer ${token.reveal()}` }) }
        const call = new Call(client, config, { ...request, headers })
        open.add(call)
        call.onOver(() => open.delete(call))
        this.#send(call, presented)
        return call.answer
      },
      closeConnections() {
        for (const call of [...open]) call.fail('the connection was closed')
      },
    }
  }

  #send(call: Call, presented: () => Peer['certificates']): void {
    const impatience = this.#time.after(HEADERS_TIMEOUT, () => call.fail('no answer in time'))
    call.onOver(() => impatience.cancel())
    call.answer.then(
      () => impatience.cancel(),
      () => impatience.cancel(),
    )
    const isLost = this.#random.chance(this.faults.lostRequest)
    const isRepeated = !isWatch(call.request) && this.#random.chance(this.faults.duplicated)
    this.#time.after(this.#latency(), () => {
      if (isLost) call.fail('connection reset before the request arrived')
      else this.#arrive(call, presented)
    })
    if (isRepeated)
      this.#time.after(this.#latency() + this.#random.gap(1000), () => this.#arrive(call, presented))
  }

  /** The request reaches the server's machine. A repeated one is handled also when the client has its answer. */
  #arrive(call: Call, presented: () => Peer['certificates']): void {
    const listener = this.#listeners.get(new URL(call.config.server).host)
    if (call.client.machine.partitioned || listener?.process.machine.partitioned) {
      this.#time.after(CONNECT_TIMEOUT, () => call.fail('connect timed out'))
      return
    }
    if (!listener?.process.alive) {
      call.fail('connection refused')
      return
    }
    const peer = this.#shakeHands(listener, call, presented)
    if (typeof peer === 'string') {
      call.fail(peer)
      return
    }
    call.onOver(listener.process.onEnd(() => this.#resetByServer(listener, call)))
    listener.handle({ ...call.request, signal: call.gone.signal }, peer).then(
      response => this.#answer(listener, call, response),
      error => call.fail(`the server broke off: ${error}`),
    )
  }

  #shakeHands(
    listener: Listener,
    { config, client }: Call,
    presented: () => Peer['certificates'],
  ): Peer | string {
    const refusal = this.#handshakes.refusalOfServer(listener.certificate(), config, client.clock.now())
    if (refusal) return refusal
    try {
      const certificates = presented()
      return { remoteAddress: client.machine.name, ...(certificates && { certificates }) }
    } catch (error) {
      return String(error)
    }
  }

  #answer(listener: Listener, call: Call, response: ApiResponse): void {
    if (!listener.process.alive) return
    const { machine } = listener.process
    machine.record('answer', {
      to: call.client.machine.name,
      method: call.request.method,
      url: call.request.url,
      status: response.status,
    })
    const isLost = this.#random.chance(this.faults.lostAnswer)
    this.#time.after(this.#latency(), () => {
      if (isLost) call.fail('connection reset before the answer arrived')
      if (call.over) return closeBody(response)
      // The answer is retransmitted into the void; the client runs into its time limit.
      if (call.client.machine.partitioned || machine.partitioned)
        return call.onOver(() => closeBody(response))
      if (response.body instanceof Uint8Array) return call.succeed(response)
      const way = { time: this.#time, random: this.#random, latency: () => this.#latency() }
      const { chunks, breakOff } = carryStream(call, response.body, machine, way)
      call.succeedWithStream({ ...response, body: chunks }, breakOff)
      this.#breakLater(call)
    })
  }

  /** A client that is cut off does not hear that the server is gone. */
  #resetByServer(listener: Listener, call: Call): void {
    if (call.client.machine.partitioned || listener.process.machine.partitioned) return
    call.fail('connection reset by a server that ended')
  }

  #breakLater(call: Call): void {
    if (this.faults.meanStreamLife === Number.POSITIVE_INFINITY) return
    const life = this.#time.after(this.#random.gap(this.faults.meanStreamLife), () =>
      call.fail('stream reset'),
    )
    call.onOver(() => life.cancel())
  }

  #latency(): number {
    if (this.#random.chance(this.faults.delayed)) return this.#random.between(0, this.faults.longestDelay)
    return this.#random.between(LATENCY.least, LATENCY.most)
  }
}

/** Nobody reads the stream: the server may forget it. */
function closeBody({ body }: ApiResponse): void {
  if (!(body instanceof Uint8Array)) void body[Symbol.asyncIterator]().return?.()
}

function isWatch(request: ApiRequest): boolean {
  return /[?&]watch=(true|1)(&|$)/.test(request.url)
}
