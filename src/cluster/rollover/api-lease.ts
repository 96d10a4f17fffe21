/**
 * The embedded API as the consumer that it is: by which signed bundle its process judges the peers of each role, and what
 * it presents, in a Lease of its own, as nodes report in theirs. Gates read it there.
 */
import type { ObjectReader } from '../../apiserver/reader.ts'
import { isStatus, type KubeClient } from '../../kube/client.ts'
import { type TrustRole, trustRoles } from '../../kube/rollcall/trust-bundle.ts'
import { formatMicroTime } from '../../kube/time-format.ts'
import { type Lease, resources } from '../../kube/types.ts'
import { ownIdentity, parseIdentity } from '../../pods/state/process-identity.ts'
import type { Clock, Disk } from '../../ports.ts'
import {
  decodeTrustReport,
  encodeTrustReport,
  instanceName,
  type ReportedTrust,
  trustReportAnnotation,
} from '../../trust/trust-report.ts'
import type { EmbeddedTrust } from './embedded-trust.ts'
import type { KnownBundle } from './signed-bundles.ts'

export const apiLease = { name: 'rollcall-apiserver', namespace: 'kube-system' }

/** Milliseconds between two renewals; the Lease is good for three of them. */
const renewEvery = 60_000

export interface ApiLeaseOptions {
  reader: ObjectReader
  client: KubeClient
  trust: EmbeddedTrust
  bundles(role: TrustRole): ReadonlyMap<number, KnownBundle>
  instance: ReportedTrust['instance']
  clock: Clock
}

export class ApiLease {
  readonly #options: ApiLeaseOptions
  readonly #loaded = new Map<string, number>()
  #renewed = Number.NEGATIVE_INFINITY
  #told = ''

  constructor(options: ApiLeaseOptions) {
    this.#options = options
  }

  /** Writes what is loaded now, when it has changed or the Lease is due. */
  async renew(): Promise<void> {
    const { reader, client, clock, instance } = this.#options
    const reports = trustRoles.flatMap(role => this.#report(role))
    const told = JSON.stringify(reports)
    if (told === this.#told && clock.monotonic() - this.#renewed < renewEvery) return
    const before = reader.get<Lease>(resources.leases, apiLease.name, apiLease.namespace)
    const seenAt = clock.now()
    const annotations = {
      [trustReportAnnotation]: encodeTrustReport(reports.map(one => ({ ...one, seenAt }))),
    }
    const lease: Lease = {
      apiVersion: 'coordination.k8s.io/v1',
      kind: 'Lease',
      metadata: { ...(before?.metadata ?? apiLease), annotations },
      spec: {
        holderIdentity: instanceName(instance),
        leaseDurationSeconds: (3 * renewEvery) / 1000,
        renewTime: formatMicroTime(seenAt),
      },
    }
    try {
      await (before ? client.update(resources.leases, lease) : client.create(resources.leases, lease))
    } catch (error) {
      if (isStatus(error, 'Conflict') || isStatus(error, 'AlreadyExists')) return // somebody wrote to it; the next look is soon
      throw error
    }
    this.#renewed = clock.monotonic()
    this.#told = told
  }

  #report(role: TrustRole): ReportedTrust[] {
    const { trust, bundles, instance, clock } = this.#options
    const { judgesBy } = trust.role(role)
    const bundle = bundles(role).get(judgesBy)
    if (!bundle) return []
    const { generation, digest } = bundle
    const key = `${role} ${generation} ${digest}`
    const loadedAt = this.#loaded.get(key) ?? clock.now()
    this.#loaded.set(key, loadedAt)
    return [{ role, generation, digest, subject: 'apiserver', instance, evidence: 'memory', loadedAt }]
  }
}

/** What the API has reported for the role; undefined: nothing, or nothing readable. */
export function apiReport(reader: ObjectReader, role: TrustRole): ReportedTrust | undefined {
  const lease = reader.get<Lease>(resources.leases, apiLease.name, apiLease.namespace)
  const reports = decodeTrustReport(lease?.metadata.annotations?.[trustReportAnnotation])
  return reports?.find(one => one.role === role && one.subject === 'apiserver')
}

/** Which process of which boot this is; where the machine does not tell, its start is enough to tell it from others. */
export async function thisInstance(disk: Disk, clock: Clock): Promise<ReportedTrust['instance']> {
  const own = parseIdentity(await ownIdentity(disk))
  if (!own) return { bootID: 'unknown', pid: 0, startTicks: clock.now() }
  return { bootID: own.bootId, pid: own.processId, startTicks: Number(own.startTicks) }
}
