import { isDeepStrictEqual } from 'node:util'
import { hasCode, RollcallError } from '../errors.ts'
import type { CertificateTemplate } from '../join/template.ts'
import type { Secret } from '../keys/secret.ts'
import type { Clock, Log, Random, Timer } from '../ports.ts'
import { clockComplaint, setTheClock, uselessOnArrival } from './arrival.ts'
import { longestBackoff } from './backoff.ts'
import { type CertificateStatus, certificateStatus } from './certificate-status.ts'
import type { CertificateStore } from './certificate-store.ts'
import * as transition from './hold-state.ts'
import { emptyHoldState, type HoldState, type Now, type RequestCause } from './hold-state.ts'
import { type KeyPair, parseKeyPair, serializeKeyPair } from './key-pair.ts'
import { type HoldRules, isLapsed, nextStep, type Step } from './next-step.ts'

/** What the manager wants to have certified; `signal` aborts when the answer is of no use any more. */
export interface RequestOrder {
  cause: RequestCause
  template: CertificateTemplate
  signal: AbortSignal
}

export interface CertificateManagerOptions {
  /** For logs, e.g. `kubelet-client`. */
  name: string
  store: CertificateStore
  clock: Clock
  random: Random
  log: Log
  rules: HoldRules
  template?: CertificateTemplate
  /** False: requests can be made only after `setAble(true)`. */
  able?: boolean
  /** Makes one attempt with a new key (join/request-certificate.ts), signed with the credential that fits the cause. */
  request(order: RequestOrder): Promise<{ chain: string; key: Secret }>
  /** A new certificate is in force. */
  onRotated?(next: KeyPair, previous: KeyPair | undefined): void
  /** An attempt failed. */
  onFailure?(error: unknown): void
}

/**
 * Keeps one certificate of a node alive: asks for the first one, renews it, asks anew when the wanted names change, when
 * it lapsed, and when the API rejects it. What to do is nextStep's decision, what has happened a transition of HoldState;
 * here both are carried out. At most one timer is pending at any time.
 */
export class CertificateManager {
  readonly #options: CertificateManagerOptions
  readonly #listeners = new Set<() => void>()
  #state: HoldState
  #pair: KeyPair | undefined
  /** The attempt under way; its identity tells a late answer from a current one. */
  #abort: AbortController | undefined
  #saving = false
  #timer: Timer | undefined
  #running = false
  #requestError: string | undefined
  #saveError: string | undefined
  #shown = ''

  constructor(options: CertificateManagerOptions) {
    this.#options = options
    const { template, able = true } = options
    const state = transition.enabled(emptyHoldState, able)
    this.#state = template ? transition.wanting(state, template) : state
  }

  /** Loads the stored pair and begins; resolves when `current()` shows what the disk held. Never rejects. */
  async start(): Promise<void> {
    this.#running = true
    try {
      const pair = await this.#options.store.load()
      if (pair) {
        this.#pair = pair
        this.#state = transition.holding(this.#state, pair.leaf, this.#chance(), undefined)
      }
    } catch (error) {
      this.#saveError = this.#trouble('the certificate store cannot be read', error)
    }
    this.#advance()
  }

  /** Ends the attempt under way and all timers; nothing happens afterwards. */
  stop(): void {
    this.#running = false
    this.#timer?.cancel()
    this.#abort?.abort()
    this.#abort = undefined
  }

  /** The pair to present: undefined when there is none or it has lapsed (K-31). */
  current(): KeyPair | undefined {
    return this.#pair && !isLapsed(this.#pair.leaf, this.#options.clock.now()) ? this.#pair : undefined
  }

  /** The pair held, lapsed or not. */
  held(): KeyPair | undefined {
    return this.#pair
  }

  status(): CertificateStatus {
    return certificateStatus(this.#state, this.#options.clock.now(), this.#requestError ?? this.#saveError)
  }

  /** Called when the state, the certificate or the attempt under way changed. The function returned ends it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  /** What is wanted from now on; undefined: nothing (an attempt under way goes on). */
  setTemplate(template: CertificateTemplate | undefined): void {
    if (!isDeepStrictEqual(template, this.#state.template)) {
      this.#change(transition.wanting(this.#state, template))
    }
  }

  /** The certificate with this serial number is of no use (the API answered 401 …): back to the bootstrap credential. */
  reportRejected(serial: string, why = `401 for the certificate with serial number ${serial}`): void {
    const next = transition.rejected(this.#state, serial, this.#chance(), this.#now())
    if (next === this.#state) return
    this.#requestError = this.#trouble('the API rejects the certificate', why)
    this.#change(next)
  }

  /** The API accepted the certificate with this serial number. */
  reportAccepted(serial: string): void {
    const next = transition.accepted(this.#state, serial)
    if (next !== this.#state) this.#change(next)
  }

  /** Renews now, unless the CA with this key identifier (hexadecimal) issued what is held. */
  renewUnlessFrom(issuer: string): void {
    this.#change(transition.dueUnlessFrom(this.#state, issuer, this.#now().wall))
  }

  /** Renews now, unless what is held was issued after that (milliseconds since the epoch). */
  renewUnlessSince(since: number): void {
    this.#change(transition.dueUnlessSince(this.#state, since, this.#now().wall))
  }

  /** Something that made attempts fail has changed: forget the backoff, unless it waits for a clock to be set. */
  retryNow(): void {
    this.#change(transition.undelayed(this.#state))
  }

  /** Whether there is somebody to make requests as; true also says that this has changed, like `retryNow`. */
  setAble(able: boolean): void {
    this.#change(transition.enabled(this.#state, able))
  }

  #change(state: HoldState): void {
    this.#state = state
    this.#advance()
  }

  /** Carries out steps until the next one is to sleep. */
  #advance(): void {
    this.#timer?.cancel()
    if (!this.#running) return
    let step = nextStep(this.#state, this.#options.rules, this.#now())
    for (; step.do !== 'sleep'; step = nextStep(this.#state, this.#options.rules, this.#now()))
      this.#carryOut(step)
    if (step.milliseconds !== undefined) {
      this.#timer = this.#options.clock.after(step.milliseconds, () => this.#advance())
    }
    this.#tell()
  }

  #carryOut(step: Exclude<Step, { do: 'sleep' }>): void {
    if (step.do === 'cancel') {
      this.#options.log.info('the request is given up', { certificate: this.#options.name, why: step.reason })
      this.#abort?.abort()
      this.#abort = undefined
      this.#state = transition.ended(this.#state)
    } else if (step.do === 'save') {
      this.#state = transition.unsaved(this.#state, undefined)
      void this.#save()
    } else {
      void this.#attempt(step.cause)
    }
  }

  async #attempt(cause: RequestCause): Promise<void> {
    const { template } = this.#state
    if (!template) return
    const abort = new AbortController()
    this.#abort = abort
    this.#state = transition.started(this.#state, cause, template, this.#now())
    this.#options.log.info('a certificate is requested', { certificate: this.#options.name, cause })
    try {
      const { chain, key } = await this.#options.request({ cause, template, signal: abort.signal })
      const pair = parseKeyPair(serializeKeyPair(chain, key))
      if (this.#abort !== abort) return
      this.#requireUseful(pair, cause)
      this.#install(pair)
    } catch (error) {
      if (this.#abort !== abort) return
      this.#abort = undefined
      this.#requestError = this.#trouble('no certificate was obtained', error)
      this.#callOut(() => this.#options.onFailure?.(error))
      const after = hasCode(error, 'CLOCK_SUSPECT') ? transition.doubted : transition.failed
      this.#change(after(this.#state, cause, this.#chance(), this.#now()))
    }
  }

  #requireUseful({ leaf }: KeyPair, cause: RequestCause): void {
    const wall = this.#options.clock.now()
    const why = uselessOnArrival(leaf, this.#state, cause, wall)
    if (why === undefined) return
    throw new RollcallError(
      'CLOCK_SUSPECT',
      `The certificate was issued just now, but ${why}${setTheClock(wall)}`,
    )
  }

  #install(pair: KeyPair): void {
    const previous = this.#pair
    this.#abort = undefined
    this.#pair = pair
    this.#requestError = undefined
    const chances = { deadline: this.#chance(), backoff: this.#chance() }
    this.#state = transition.installed(this.#state, pair.leaf, chances, this.#now())
    const { held } = this.#state
    this.#options.log.info('a new certificate is in force', {
      certificate: this.#options.name,
      serial: held?.serial,
      notAfter: new Date(pair.leaf.notAfter).toISOString(),
    })
    if (held?.lack !== undefined) {
      this.#requestError = this.#trouble('the issued certificate is not what was asked for', held.lack)
    } else this.#complainOfClock(pair)
    this.#callOut(() => this.#options.onRotated?.(pair, previous))
    void this.#save()
    this.#advance()
  }

  #complainOfClock({ leaf }: KeyPair): void {
    const wall = this.#options.clock.now()
    const complaint = clockComplaint(leaf, wall)
    if (complaint === undefined) return
    const shown = this.#trouble('a clock is wrong', new RollcallError('CLOCK_SUSPECT', complaint))
    // That it is not valid yet passes of itself: status() looks.
    if (wall >= leaf.notBefore) this.#requestError = shown
  }

  /** A full disk does not cost the node its certificate: it is used from memory and written as soon as that works. */
  async #save(): Promise<void> {
    if (this.#saving) return
    this.#saving = true
    let pair: KeyPair | undefined
    try {
      while (pair !== this.#pair && this.#pair) {
        pair = this.#pair
        await this.#options.store.update(pair.chain, pair.key)
      }
      this.#saving = false
      this.#saveError = undefined
    } catch (error) {
      this.#saving = false
      this.#saveError = this.#trouble(
        'the certificate cannot be written to the disk; it is used from memory',
        error,
      )
      this.#change(transition.unsaved(this.#state, this.#now().monotonic + longestBackoff))
    }
  }

  #tell(): void {
    const { state, serial, requesting } = this.status()
    const shown = `${state} ${serial} ${requesting}`
    if (shown === this.#shown) return
    this.#shown = shown
    for (const listener of [...this.#listeners]) this.#callOut(listener)
  }

  /** What others do with the news must not look like a failed attempt. */
  #callOut(run: () => void): void {
    try {
      run()
    } catch (error) {
      this.#options.log.error('a listener failed', { certificate: this.#options.name, error: String(error) })
    }
  }

  /** Logs it, and gives it as a sentence. */
  #trouble(message: string, error: unknown): string {
    this.#options.log.warn(message, { certificate: this.#options.name, error: String(error) })
    return `${message}: ${error instanceof Error ? error.message : String(error)}`
  }

  #chance(): number {
    return this.#options.random.float()
  }

  #now(): Now {
    return { wall: this.#options.clock.now(), monotonic: this.#options.clock.monotonic() }
  }
}
