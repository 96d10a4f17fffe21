/** Counters of what the controllers decide and sign. */
import { Counter, type Registry } from 'prom-client'
import type { Verdict } from '../approve/verdict.ts'
import type { CertificateSigningRequest } from '../kube/types.ts'

export interface ControllerMetrics {
  verdict(csr: CertificateSigningRequest, verdict: Verdict): void
  issued(csr: CertificateSigningRequest): void
  failed(csr: CertificateSigningRequest): void
}

export const noMetrics: ControllerMetrics = { verdict() {}, issued() {}, failed() {} }

export function controllerMetrics(registry: Registry): ControllerMetrics {
  const registers = [registry]
  const verdicts = new Counter({
    name: 'rollcall_csr_verdicts_total',
    help: 'Verdicts on certificate signing requests; pending ones count once a reason.',
    labelNames: ['signer', 'outcome', 'reason'],
    registers,
  })
  const issued = new Counter({
    name: 'rollcall_certificates_issued_total',
    help: 'Certificates written to status.certificate.',
    labelNames: ['signer'],
    registers,
  })
  const failed = new Counter({
    name: 'rollcall_signing_refusals_total',
    help: 'Approved requests that the signer marked Failed.',
    labelNames: ['signer'],
    registers,
  })
  return {
    verdict({ spec }, { outcome, reasons }) {
      verdicts.inc({ signer: spec.signerName, outcome, reason: reasons[0]?.code ?? '' })
    },
    issued: ({ spec }) => issued.inc({ signer: spec.signerName }),
    failed: ({ spec }) => failed.inc({ signer: spec.signerName }),
  }
}
