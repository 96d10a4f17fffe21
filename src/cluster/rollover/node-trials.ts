/** What the control plane sees of nodes: which serving leaf they show, and whose client certificates they take. */
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { type KubeNode, type Lease, resources } from '../../kube/types.ts'
import type { NodeTrustFacts } from '../../trust/node-consumers.ts'
import { decodeTrustReport, trustReportAnnotation } from '../../trust/trust-report.ts'
import { parseCertificate } from '../../x509/certificate.ts'
import type { EmbeddedControl } from './embedded-control.ts'
import { leafServed, type Place } from './handshakes.ts'
import { canaryStatus } from './server-trials.ts'

/** Milliseconds between two looks at what a node serves. */
const lookEvery = 2000

interface Shown {
  at: number
  authority: number | undefined
}

export class NodeTrials {
  readonly #control: EmbeddedControl
  readonly #accepted = new Map<string, Map<number, number>>()
  readonly #refused = new Map<string, Set<number>>()
  readonly #shown = new Map<string, Shown>()

  constructor(control: EmbeddedControl) {
    this.#control = control
  }

  /** Presents a client certificate of the CA to the node: anything but 401 says that it was taken. */
  async present(node: string, authority: number): Promise<void> {
    const place = this.#placeOf(node)
    const status = place && (await canaryStatus(this.#control, authority, place, '/healthz'))
    if (status === 401) this.#refused.set(node, new Set([...(this.#refused.get(node) ?? []), authority]))
    else if (status === 200 || status === 403) {
      const known = this.#accepted.get(node) ?? new Map<number, number>()
      this.#accepted.set(node, known.set(authority, this.#control.clock.now()))
    }
  }

  /** The CA of the serving leaf that the node shows; looked at again every two seconds. */
  async shows(node: string): Promise<number | undefined> {
    const { clock, cas } = this.#control
    const known = this.#shown.get(node)
    if (known && clock.monotonic() - known.at < lookEvery) return known.authority
    const place = this.#placeOf(node)
    const leaf = place && (await leafServed(place, clock))
    const authority = leaf && cas.issuerOf('kubelet-serving', parseCertificate(leaf))
    this.#shown.set(node, { at: clock.monotonic(), authority })
    return authority
  }

  /** Every Node, with what it reports and what was seen of it for the role. */
  facts(role: TrustRole): NodeTrustFacts[] {
    const { reader, trust } = this.#control
    return reader.list<KubeNode>(resources.nodes).map(node => {
      const { name } = node.metadata
      const lease = reader.get<Lease>(resources.leases, name, 'kube-node-lease')
      const report = decodeTrustReport(lease?.metadata.annotations?.[trustReportAnnotation])
      const made = role === 'client' ? this.#accepted.get(name) : trust.seen.nodeHandshakes.get(name)
      const refused = role === 'client' ? [...(this.#refused.get(name) ?? [])] : []
      const ready = node.status?.conditions?.find(({ type }) => type === 'Ready')?.status === 'True'
      const bootID = node.status?.nodeInfo?.bootID
      const reported = report?.map(one =>
        refused.length > 0 && one.role === role ? { ...one, refused } : one,
      )
      return {
        name,
        renewed: Date.parse(lease?.spec?.renewTime ?? '') || 0,
        unavailable: !ready,
        handshakes: [...(made ?? [])].map(([authority, at]) => ({ authority, at })),
        ...(bootID !== undefined && { bootID }),
        ...(reported && { report: reported }),
      }
    })
  }

  #placeOf(name: string): Place | undefined {
    const node = this.#control.reader.get<KubeNode>(resources.nodes, name)
    const host = node?.status?.addresses?.find(({ type }) => type === 'InternalIP')?.address
    const port = node?.status?.daemonEndpoints?.kubeletEndpoint?.Port
    return host === undefined || port === undefined ? undefined : { host, port }
  }
}
