/** What this node trusts: bundles that the pinned trust roots signed, held in memory and on the disk, and told of. */
import { isStatus, type KubeClient } from '../kube/client.ts'
import {
  type TrustBundleObject,
  type TrustRole,
  trustBundle,
  trustRoles,
} from '../kube/rollcall/trust-bundle.ts'
import type { KubeNode } from '../kube/types.ts'
import type { Clock, Disk, Log, Timer } from '../ports.ts'
import { type AcceptedBundle, acceptBundle, type SignedBundle } from '../trust/accept-bundle.ts'
import { signedBundleOf } from '../trust/bundle-object.ts'
import { decodeBundle } from '../trust/bundle-text.ts'
import { type NodeOrder, type NodeOrders, ordersOn } from '../trust/node-orders.ts'
import { clusterInfoKey, decodeStoredBundle } from '../trust/stored-bundle.ts'
import { encodeTrustReport, type ReportedTrust, trustReportAnnotation } from '../trust/trust-report.ts'
import { decodeTrustRoots, type TrustRoots } from '../trust/trust-roots.ts'
import { encodePem } from '../x509/pem.ts'
import { TrustFiles } from './trust-files.ts'

export interface AgentTrustOptions {
  disk: Disk
  clock: Clock
  log: Log
  /** The pinned trust roots; absent: nothing is loaded, reported or obeyed. */
  rootsPath: string | undefined
  /** Where bundles are kept; made when it is missing. */
  directory: string
  /** The API under the node's own certificate. */
  client: KubeClient
  instance: ReportedTrust['instance']
  /** The kubelet, where it is another process; absent: the agent is it. */
  kubelet?: KubeletBeside
  /** Bundle of this role is in force from now on, PEM. */
  onAnchors(role: TrustRole, pem: string): void
  /** What the report says has changed. */
  onReport(): void
  /** The data of kube-public/cluster-info, from a server that nothing is known of: nobody's word but the roots' counts. */
  clusterInfo(): Promise<Readonly<Record<string, string>>>
  /** A handshake with the bare chain of this CA; resolves with whether it was verified and answered. */
  probe(authority: number): Promise<boolean>
  /** The certificate of this role is to be of the CA with this key identifier. */
  renew(role: TrustRole, issuer: string): void
  /** Key identifier of the CA of the certificate of this role that the node has, in hexadecimal. */
  holds(role: TrustRole): string | undefined
}

type TrustReport = Omit<ReportedTrust, 'role' | 'subject'>

/** A kubelet that trusts by itself. */
export interface KubeletBeside {
  /** What it has loaded; undefined: nothing of this role that is known. */
  report(role: TrustRole): TrustReport | undefined
  /** It is to be another process that started after this moment (milliseconds since the epoch). */
  restart(notBefore: number): void
}

interface Held extends AcceptedBundle {
  pem: string
  loadedAt: number
  refused: Set<number>
  /** When the bare chain of a CA was verified last. */
  verified: Map<number, number>
}

export class AgentTrust {
  readonly #options: AgentTrustOptions
  readonly #files: TrustFiles
  readonly #held = new Map<TrustRole, Held>()
  readonly #fences = new Map<TrustRole, Pick<NodeOrders, 'token' | 'sequence'>>()
  readonly #attempts = new Map<string, number>()
  readonly #renewals = new Map<TrustRole, Timer>()
  #roots: TrustRoots | undefined
  #obeying: Promise<void> = Promise.resolve()
  #stopped = false

  constructor(options: AgentTrustOptions) {
    this.#options = options
    this.#files = new TrustFiles(options)
  }

  /** Reads the pinned roots and what was held before. A node without roots goes on without bundles. */
  async load(): Promise<void> {
    const { rootsPath, log } = this.#options
    const text = rootsPath === undefined ? undefined : await this.#files.read(rootsPath)
    if (text === undefined) return
    this.#roots = decodeTrustRoots(text)
    if (!this.#roots) log.error('the trust roots cannot be read; no bundle is taken', { path: rootsPath })
    for (const role of trustRoles) await this.#loadStored(role)
  }

  /** The bundle of the role that is these CAs, PEM; undefined: none that is held. */
  bundleOf(role: TrustRole, pem: string): Pick<AcceptedBundle, 'generation' | 'digest'> | undefined {
    const held = this.#held.get(role)
    return held?.pem === pem ? held : undefined
  }

  /** PEM of the CAs of the role; undefined: no bundle is held. */
  anchors(role: TrustRole): string | undefined {
    return this.#held.get(role)?.pem
  }

  /** What this process has loaded of the role. */
  own(role: TrustRole): TrustReport | undefined {
    const held = this.#held.get(role)
    return held && this.#ownReport(held)
  }

  #ownReport({ generation, digest, loadedAt }: Held): TrustReport {
    const { clock, instance } = this.#options
    return { generation, digest, instance, evidence: 'memory', loadedAt, seenAt: clock.now() }
  }

  /** Annotations of the node's own Lease; none without roots. Without a kubelet beside agent and kubelet are one process. */
  annotations(): Record<string, string> | undefined {
    if (!this.#roots) return undefined
    const { holds, kubelet } = this.#options
    const reports = [...this.#held].flatMap(([role, held]) => {
      const issuer = holds(role)
      const own = this.#ownReport(held)
      const agent = {
        ...own,
        role,
        subject: 'agent',
        ...(held.refused.size > 0 && { refused: [...held.refused] }),
        ...(held.verified.size > 0 && {
          verified: [...held.verified].map(([authority, at]) => ({ authority, at })),
        }),
        ...(issuer !== undefined && { holds: issuer }),
      } as const
      const beside = kubelet ? kubelet.report(role) : own
      return [agent, ...(beside ? [{ ...beside, role, subject: 'kubelet' } as const] : [])]
    })
    return { [trustReportAnnotation]: encodeTrustReport(reports) }
  }

  /** Our Node as the API shows it: what it is ordered is done one after the other. */
  seen(node: KubeNode | undefined): void {
    const annotations = node?.metadata.annotations
    if (!annotations || !this.#roots || this.#stopped) return
    for (const [role, orders] of ordersOn(annotations)) {
      const fence = this.#fences.get(role)
      const stale =
        fence &&
        (orders.token < fence.token || (orders.token === fence.token && orders.sequence < fence.sequence))
      if (stale) continue
      this.#fences.set(role, orders)
      for (const order of orders.orders) this.#obeying = this.#obeying.then(() => this.#obey(role, order))
    }
  }

  /**
   * The API server is trusted by none of the CAs held: it may have changed while this node was away. Takes the bundles that
   * are published, if the pinned roots have signed them and they are newer.
   */
  async catchUp(): Promise<void> {
    if (!this.#roots || this.#stopped) return
    try {
      const data = await this.#options.clusterInfo()
      for (const role of trustRoles) await this.#catchUpWith(role, data[clusterInfoKey(role)])
    } catch (error) {
      this.#options.log.info('published trust bundles cannot be read', { error: String(error) })
    }
  }

  async #catchUpWith(role: TrustRole, text: string | undefined): Promise<void> {
    const signed = text === undefined ? undefined : decodeStoredBundle(text)
    const generation = signed && decodeBundle(signed.content)?.generation
    if (!signed || generation === undefined || generation <= (this.#held.get(role)?.generation ?? 0)) return
    if (!this.#take(role, signed, this.#options.clock.now())) return
    await this.#files.store(role, signed)
    this.#options.log.info('caught up with a trust bundle', { role, generation })
    this.#options.onReport()
  }

  async stop(): Promise<void> {
    this.#stopped = true
    for (const timer of this.#renewals.values()) timer.cancel()
    await this.#obeying
  }

  async #obey(role: TrustRole, order: NodeOrder): Promise<void> {
    if (this.#stopped) return
    try {
      switch (order.kind) {
        case 'load-bundle':
          return await this.#loadFromApi(role, order.generation)
        case 'probe':
          if (this.#isNew(role, order) && (await this.#options.probe(order.authority)))
            this.#verifies(role, order.authority)
          return
        case 'probe-refusal':
          if (this.#isNew(role, order) && !(await this.#options.probe(order.authority)))
            this.#refuses(role, order.authority)
          return
        case 'renew':
          return this.#renewAt(role, order)
        case 'restart-kubelet':
          // Where the kubelet is this process, it reloads.
          return this.#options.kubelet?.restart(order.notBefore)
      }
    } catch (error) {
      this.#options.log.warn('an order could not be carried out', {
        role,
        order: order.kind,
        error: String(error),
      })
    }
  }

  /** Each attempt is made once. */
  #isNew(role: TrustRole, { kind, authority, attempt }: Extract<NodeOrder, { attempt: number }>): boolean {
    const key = `${role} ${kind} ${authority}`
    if (attempt <= (this.#attempts.get(key) ?? -1)) return false
    this.#attempts.set(key, attempt)
    return true
  }

  #refuses(role: TrustRole, authority: number): void {
    const held = this.#held.get(role)
    if (!held || held.refused.has(authority)) return
    held.refused.add(authority)
    this.#options.onReport()
  }

  #verifies(role: TrustRole, authority: number): void {
    const { clock, onReport } = this.#options
    const verified = this.#held.get(role)?.verified
    if (!verified) return
    const isNews = !verified.has(authority)
    verified.set(authority, clock.now())
    if (isNews) onReport()
  }

  #renewAt(role: TrustRole, { issuer, notBefore }: Extract<NodeOrder, { kind: 'renew' }>): void {
    const { clock, renew } = this.#options
    this.#renewals.get(role)?.cancel()
    this.#renewals.set(
      role,
      clock.after(Math.max(0, notBefore - clock.now()), () => renew(role, issuer)),
    )
  }

  async #loadFromApi(role: TrustRole, generation: number): Promise<void> {
    if (generation <= (this.#held.get(role)?.generation ?? 0)) return
    const { client, clock, log } = this.#options
    const name = `${role}-${generation}`
    let object: TrustBundleObject
    try {
      object = await client.get<TrustBundleObject>(trustBundle.ref, { name })
    } catch (error) {
      if (!isStatus(error, 'NotFound')) throw error
      log.warn('a trust bundle that was ordered is not there', { name })
      return
    }
    const signed = signedBundleOf(object)
    if (!this.#take(role, signed, clock.now())) return
    await this.#files.store(role, signed)
    log.info('a trust bundle is loaded', { role, generation })
    this.#options.onReport()
  }

  async #loadStored(role: TrustRole): Promise<void> {
    const signed = await this.#files.stored(role)
    // Who has a bundle keeps it beyond its end.
    if (signed) this.#take(role, signed, decodeBundle(signed.content)?.notBefore ?? 0)
  }

  #take(role: TrustRole, signed: SignedBundle, now: number): boolean {
    const { clock, log, onAnchors } = this.#options
    const held = this.#held.get(role)
    if (!this.#roots) return false
    const acceptance = acceptBundle(signed, { roots: this.#roots, role, now, ...(held && { held }) })
    if (!acceptance.ok) {
      log.error(acceptance.message, { role, reason: acceptance.reason })
      return false
    }
    const { bundle } = acceptance
    const pem = bundle.anchors.map(({ raw }) => encodePem('CERTIFICATE', raw)).join('')
    this.#held.set(role, { ...bundle, pem, loadedAt: clock.now(), refused: new Set(), verified: new Map() })
    onAnchors(role, pem)
    return true
  }
}
