/** The cluster in numbers, for Prometheus. Nothing is labelled by node: a large fleet has no more series than a small one. */
import type { Registry } from 'prom-client'
import type { CertificateSigningRequest, KubeNode } from '../kube/types.ts'
import type { Clock } from '../ports.ts'
import type { Certificate } from '../x509/certificate.ts'
import { NodeCertificates } from './metrics-certificates.ts'
import { ClockSkews } from './metrics-clock-skew.ts'
import { surveyGauges } from './metrics-gauges.ts'
import { requestNumbers } from './metrics-requests.ts'

/** One who sees the cluster, from the time it does until it does no more. */
export interface SurveyTerm {
  /** To be called for every change of a request but its deletion. `leaf`: its certificate, where somebody read it already. */
  requestChanged(csr: CertificateSigningRequest, leaf?: Certificate): void
  /** To be called for every change of a Node. */
  nodeChanged(type: 'ADDED' | 'MODIFIED' | 'DELETED', node: KubeNode, previous?: KubeNode): void
  end(): void
}

export interface TermSources {
  /** All requests, from when all have been seen. */
  requests(): readonly CertificateSigningRequest[] | undefined
  /** How many there are beside those, by `settledHeading`. */
  settled(): ReadonlyMap<string, number>
  /** Whether all Nodes have been seen: without them there are no numbers of certificates. */
  nodesSynced(): boolean
}

export interface SurveyMetrics {
  /** Numbers come from the latest term; while none runs there are none. */
  begin(sources: TermSources): SurveyTerm
}

export const noSurvey: SurveyMetrics = {
  begin: () => ({ requestChanged() {}, nodeChanged() {}, end() {} }),
}

/** `knownReasons`: those of refusals that become a label; others, which anybody may make up, are `other`. */
export function createSurveyMetrics(
  registry: Registry,
  clock: Clock,
  knownReasons: ReadonlySet<string>,
): SurveyMetrics {
  let current: { term: Term; sources: TermSources } | undefined
  surveyGauges(registry, () => {
    const requests = current?.sources.requests()
    if (!current || !requests) return undefined
    const { term, sources } = current
    const now = clock.now()
    const nodes = sources.nodesSynced() ? term.numbers(now) : undefined
    return {
      requests: requestNumbers(requests, now, knownReasons, sources.settled()),
      ...(nodes && { nodes }),
    }
  })
  return {
    begin(sources) {
      const term = new Term(clock)
      current = { term, sources }
      return {
        requestChanged: (csr, leaf) => term.certificates.see(csr, leaf),
        nodeChanged: (type, node, previous) => term.nodeChanged(type, node, previous),
        end() {
          if (current?.term === term) current = undefined
        },
      }
    },
  }
}

class Term {
  readonly certificates = new NodeCertificates()
  readonly #skews = new ClockSkews()
  readonly #nodes = new Set<string>()
  readonly #clock: Clock

  constructor(clock: Clock) {
    this.#clock = clock
  }

  nodeChanged(type: 'ADDED' | 'MODIFIED' | 'DELETED', node: KubeNode, previous?: KubeNode): void {
    const { name } = node.metadata
    if (type === 'DELETED') {
      this.#nodes.delete(name)
      this.certificates.forget(name)
      this.#skews.forget(name)
    } else {
      this.#nodes.add(name)
      this.#skews.see(node, previous, this.#clock.now())
    }
  }

  numbers(now: number) {
    return {
      count: this.#nodes.size,
      certificates: this.certificates.numbers(this.#nodes, now),
      largestSkew: this.#skews.largest(),
    }
  }
}
