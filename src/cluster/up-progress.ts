import type { NodeReport } from '../fleet/fleet.ts'

/** Names and addresses in the serving certificate of a fleet node: its own name and its own address. */
const SANS_OF_A_NODE = 2

/** Lines of progress for people, each once: they say what was observed, not what was started. */
export class UpProgress {
  readonly #nodes: number
  readonly #resumed: boolean
  readonly #reports = new Map<string, NodeReport>()
  readonly #said = new Set<string>()

  /** `resumed`: the nodes held certificates from an earlier run when this one began. */
  constructor(nodes: number, resumed: boolean) {
    this.#nodes = nodes
    this.#resumed = resumed
  }

  start(): string {
    return this.#resumed
      ? `${this.#nodes} nodes go on with the certificates they hold`
      : `${this.#nodes} nodes start with a token and nothing else`
  }

  take(report: NodeReport): void {
    this.#reports.set(report.name, report)
  }

  #count(reached: (report: NodeReport) => boolean): number {
    return [...this.#reports.values()].filter(reached).length
  }

  /** Nodes that hold both certificates. */
  get ready(): number {
    return this.#count(report => report.client && report.serving)
  }

  get allReady(): boolean {
    return this.ready === this.#nodes
  }

  /** What has newly been reached by every node. */
  news(): string[] {
    const nodes = this.#nodes
    const all = (reached: (report: NodeReport) => boolean) => this.#count(reached) === nodes
    const lines: [boolean, string][] = [
      [
        all(report => report.client),
        `${nodes}/${nodes} client certificates${this.#resumed ? '' : '    SubjectAccessReview nodeclient: yes'}`,
      ],
      [all(report => report.registered), `${nodes}/${nodes} nodes registered`],
      [
        all(report => report.serving),
        `${nodes}/${nodes} serving certificates   ${SANS_OF_A_NODE * nodes}/${SANS_OF_A_NODE * nodes} SANs on their own Node`,
      ],
    ]
    const fresh = lines.filter(([reached, line]) => reached && !this.#said.has(line)).map(([, line]) => line)
    for (const line of fresh) this.#said.add(line)
    return fresh
  }

  /** One line that is drawn over again on a terminal. */
  status(): string {
    const part = (reached: (report: NodeReport) => boolean) => `${this.#count(reached)}/${this.#nodes}`
    return `client ${part(report => report.client)}  registered ${part(report => report.registered)}  serving ${part(report => report.serving)}`
  }

  /** Nodes that are not ready and what troubles them, for a start that hangs. */
  troubles(): string[] {
    return [...this.#reports.values()]
      .filter(report => !(report.client && report.serving) && report.lastError !== undefined)
      .map(report => `${report.name}: ${report.lastError}`)
  }
}
