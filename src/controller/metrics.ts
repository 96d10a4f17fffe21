/** What the controllers decide, sign and delete, counted; and what they run on. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { reasonCodes } from '../approve/reason-codes.ts'
import type { Comparison } from '../approve/shadow-comparison.ts'
import type { Verdict } from '../approve/verdict.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'
import type { Clock } from '../ports.ts'
import type { AuthoritySource } from '../sign/authority.ts'
import type { CleaningReason } from '../sign/cleanable.ts'
import type { HeadResult } from '../survey/audit/head-webhook.ts'
import { type HeadPlace, headPlaces } from '../survey/audit/start-decision-log.ts'
import { type CanaryMetrics, canaryMetrics, noCanary } from '../survey/canary/start-canary.ts'
import { createSurveyMetrics, noSurvey, type SurveyMetrics } from '../survey/metrics.ts'
import { signerLabel } from '../survey/metrics-requests.ts'
import { noProbes, type ProbeMetrics, probeMetrics } from '../survey/serving-probes/start-probes.ts'
import { type ControllerName, controllerNames } from './controller-name.ts'

export interface ControllerMetrics {
  verdict(csr: CertificateSigningRequest, verdict: Verdict): void
  issued(csr: CertificateSigningRequest): void
  failed(csr: CertificateSigningRequest): void
  /** The certificate was cut short to the end of its CA. */
  capped(csr: CertificateSigningRequest): void
  cleaned(reason: CleaningReason): void
  /** A shadow policy was asked beside the policy in force. */
  shadow(comparison: Comparison): void
  /** What became of a head of the decision log at a place where it is kept. */
  head(place: HeadPlace, result: HeadResult): void
  /** These controllers run in this process from now on; none: it does not lead any more. */
  running(names: readonly ControllerName[]): void
  survey: SurveyMetrics
  canary: CanaryMetrics
  probes: ProbeMetrics
}

export const noMetrics: ControllerMetrics = {
  verdict() {},
  issued() {},
  failed() {},
  capped() {},
  cleaned() {},
  shadow() {},
  head() {},
  running() {},
  survey: noSurvey,
  canary: noCanary,
  probes: noProbes,
}

export interface ControllerMetricsOptions {
  registry: Registry
  clock: Clock
  authorities: Readonly<Record<string, AuthoritySource>>
  certificateLifetimeSeconds: number
  /** Those that run when this process leads. */
  only?: readonly ControllerName[] | undefined
}

/** Reasons of denials and of the signer's refusals (C-33). */
const knownRefusals: ReadonlySet<string> = new Set([...Object.keys(reasonCodes), 'SignerValidationFailure'])

/** From the request to the certificate, seconds. A request waits for a human, a Node or a policy at the upper end. */
const issuanceBuckets = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 900, 3600, 86_400]

const cleanedStates: Readonly<Record<CleaningReason, string>> = {
  'denied over 1 h ago': 'denied',
  'failed over 1 h ago': 'failed',
  'pending for over 24 h': 'pending',
  'approved over 24 h ago, never issued': 'unsigned',
  'issued over 1 h ago': 'issued',
  'the certificate has expired': 'expired',
}

/** Registers everything once; counters begin at 0, since Prometheus sees no increase in a series that begins at 1. */
export function controllerMetrics(options: ControllerMetricsOptions): ControllerMetrics {
  registerAuthorities(options)
  return {
    ...countDecisions(options),
    cleaned: countCleaned(options.registry),
    shadow: countShadow(options.registry),
    head: countHeads(options.registry),
    running: registerRunning(options),
    survey: createSurveyMetrics(options.registry, options.clock, knownRefusals),
    canary: canaryMetrics(options.registry),
    probes: probeMetrics(options.registry),
  }
}

function countDecisions({ registry, clock, authorities }: ControllerMetricsOptions) {
  const registers = [registry]
  const labelNames = ['signer'] as const
  const verdicts = new Counter({
    name: 'rollcall_csr_verdicts_total',
    help: 'Verdicts on certificate signing requests; pending ones count once a reason.',
    labelNames: ['signer', 'outcome', 'reason'],
    registers,
  })
  const issued = new Counter({
    name: 'rollcall_certificates_issued_total',
    help: 'Certificates written to status.certificate.',
    labelNames,
    registers,
  })
  const failed = new Counter({
    name: 'rollcall_signing_refusals_total',
    help: 'Approved requests that the signer marked Failed.',
    labelNames,
    registers,
  })
  const capped = new Counter({
    name: 'rollcall_certificates_capped_total',
    help: 'Certificates that end sooner than asked for and allowed, since their CA does.',
    labelNames,
    registers,
  })
  const took = new Histogram({
    name: 'rollcall_certificate_issuance_seconds',
    help: 'From the creation of a request (which the API stamps in whole seconds) to its certificate.',
    labelNames,
    buckets: issuanceBuckets,
    registers,
  })
  for (const name of Object.keys(authorities))
    for (const counter of [issued, failed, capped]) counter.inc({ signer: signerLabel(name) }, 0)
  return {
    verdict({ spec }: CertificateSigningRequest, { outcome, reasons }: Verdict) {
      verdicts.inc({ signer: signerLabel(spec.signerName), outcome, reason: reasons[0]?.code ?? '' })
    },
    issued({ spec, metadata }: CertificateSigningRequest) {
      const signer = signerLabel(spec.signerName)
      issued.inc({ signer })
      const { creationTimestamp } = metadata
      if (creationTimestamp)
        took.observe({ signer }, Math.max(0, (clock.now() - Date.parse(creationTimestamp)) / 1000))
    },
    failed: ({ spec }: CertificateSigningRequest) => failed.inc({ signer: signerLabel(spec.signerName) }),
    capped: ({ spec }: CertificateSigningRequest) => capped.inc({ signer: signerLabel(spec.signerName) }),
  }
}

function countCleaned(registry: Registry): ControllerMetrics['cleaned'] {
  const counter = new Counter({
    name: 'rollcall_csr_cleaned_total',
    help: 'Requests that were deleted because they had had their time, by what they were.',
    labelNames: ['state'],
    registers: [registry],
  })
  for (const state of Object.values(cleanedStates)) counter.inc({ state }, 0)
  return reason => counter.inc({ state: cleanedStates[reason] })
}

function countHeads(registry: Registry): ControllerMetrics['head'] {
  const counter = new Counter({
    name: 'rollcall_audit_heads_total',
    help: 'Heads of the decision log by where they are kept and what became of them; failed counts tries, dropped what is never sent.',
    labelNames: ['place', 'result'],
    registers: [registry],
  })
  for (const place of headPlaces)
    for (const result of ['sent', 'failed', ...(place === 'webhook' ? ['dropped'] : [])])
      counter.inc({ place, result }, 0)
  return (place, result) => counter.inc({ place, result })
}

/** Labels are outcomes, so there are at most 36 series. */
function countShadow(registry: Registry): ControllerMetrics['shadow'] {
  const counter = new Counter({
    name: 'rollcall_policy_shadow_verdicts_total',
    help: 'Verdicts of shadow policies beside what was enforced; equal outcomes too.',
    labelNames: ['enforced', 'shadow'],
    registers: [registry],
  })
  return ({ enforced, shadow }) => counter.inc({ enforced, shadow })
}

function registerAuthorities({
  registry,
  authorities,
  certificateLifetimeSeconds,
}: ControllerMetricsOptions): void {
  const registers = [registry]
  const labelNames = ['signer'] as const
  const sources = Object.entries(authorities)
  new Gauge({
    name: 'rollcall_signing_ca_expiration_timestamp_seconds',
    help: 'When the CA certificate that signs for this signer ends.',
    labelNames,
    registers,
    collect() {
      this.reset()
      for (const [name, source] of sources) {
        const notAfter = source.current()?.certificate.notAfter
        if (notAfter !== undefined) this.set({ signer: signerLabel(name) }, notAfter / 1000)
      }
    },
  })
  new Gauge({
    name: 'rollcall_signing_ca_usable',
    help: 'Whether the signer can sign: 0 while its CA’s certificate, key or token cannot be used.',
    labelNames,
    registers,
    collect() {
      for (const [name, source] of sources) this.set({ signer: signerLabel(name) }, source.current() ? 1 : 0)
    },
  })
  new Gauge({
    name: 'rollcall_signing_ca_in_order',
    help: 'Whether the CA’s files, key and token are in order: 0 also while an earlier good pair goes on signing.',
    labelNames,
    registers,
    collect() {
      for (const [name, source] of sources)
        this.set({ signer: signerLabel(name) }, source.problem() === undefined ? 1 : 0)
    },
  })
  const lifetime = new Gauge({
    name: 'rollcall_signing_lifetime_seconds',
    help: 'The longest life that a certificate of this signer is given.',
    labelNames,
    registers,
  })
  for (const [name] of sources) lifetime.set({ signer: signerLabel(name) }, certificateLifetimeSeconds)
}

/** 1 in the process that leads, 0 in one that waits; what this program is not asked to run has no series. */
function registerRunning({
  registry,
  only = controllerNames,
}: ControllerMetricsOptions): ControllerMetrics['running'] {
  const gauge = new Gauge({
    name: 'rollcall_controller_running',
    help: 'Whether this process runs the controller now: 1 in the leader, 0 in one that waits for the Lease.',
    labelNames: ['controller'],
    registers: [registry],
  })
  const set = (names: readonly ControllerName[]) => {
    for (const controller of only) gauge.set({ controller }, names.includes(controller) ? 1 : 0)
  }
  set([])
  return set
}
