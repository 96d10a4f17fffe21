/** The cluster's program: approve, sign, clean, publish; at once, or while this process holds the leader's Lease. */
import { checkPolicy } from '../approve/policy.ts'
import { startLeaseElection } from '../kube/lease-election.ts'
import { type AuthoritySource, authorityOf, constantAuthority } from '../sign/authority.ts'
import { type RunningDecisionLog, startDecisionLog } from '../survey/audit/start-decision-log.ts'
import { startCanary } from '../survey/canary/start-canary.ts'
import { startNodeConditions } from '../survey/node-conditions/start-conditions.ts'
import { startProbes } from '../survey/serving-probes/start-probes.ts'
import { startBootstrapSigner } from '../trust/bootstrap-signer.ts'
import { startRootCaPublisher } from '../trust/root-ca-publisher.ts'
import { startTokenCleaner } from '../trust/token-cleaner.ts'
import { type ControllerName, controllerNames } from './controller-name.ts'
import { type CsrControllersOptions, startCsrControllers } from './csr-controllers.ts'
import { controllerMetrics, noMetrics } from './metrics.ts'
import { startNodeLifecycle } from './node-lifecycle.ts'
import type { ControllersOptions, RunningControllers } from './options.ts'
import { startServiceAccountPublisher } from './service-account-publisher.ts'

/** Throws RollcallError SIGNER_UNUSABLE or POLICY_INVALID before anything runs. */
export function startControllers(options: ControllersOptions): RunningControllers {
  const { approvalPolicy, leaderElection, metrics } = options
  if (approvalPolicy) checkPolicy(approvalPolicy)
  const authorities = authoritiesOf(options.signers)
  const prepared = {
    ...options,
    authorities,
    counters: metrics ? controllerMetrics({ ...options, registry: metrics, authorities }) : noMetrics,
  }
  if (!leaderElection) return startAll(prepared)
  const { client, clock, random, log } = options
  return startLeaseElection({
    client,
    clock,
    random,
    log,
    ...handOver,
    ...leaderElection,
    async lead(signal) {
      const running = startAll(prepared)
      if (!signal.aborted)
        await new Promise<void>(resolve => signal.addEventListener('abort', () => resolve(), { once: true }))
      await running.stop()
    },
  })
}

/**
 * Shorter than client-go's 15, 10 and 2 seconds: a replica that was killed is followed by another within 14 seconds
 * (duration, and one pause of at most 2.2 periods).
 */
const handOver = { leaseDuration: 10_000, renewDeadline: 7_000, retryPeriod: 1_500 }

function startAll(options: ControllersOptions & CsrControllersOptions): RunningControllers {
  const { rootCertificates, only = controllerNames } = options
  const wants = (name: ControllerName) => only.includes(name)
  const running: RunningControllers[] = []
  const decisions = wants('approval') ? startDecisions(options) : undefined
  if (wants('approval') || wants('signing') || wants('cleaning'))
    running.push(startCsrControllers({ ...options, decisions }))
  if (wants('root-ca-publishing') && rootCertificates) running.push(startRootCaPublisher(options))
  if (wants('token-cleaning')) running.push(startTokenCleaner(options))
  if (wants('bootstrap-signing')) running.push(startBootstrapSigner(options))
  if (wants('service-accounts')) running.push(startServiceAccountPublisher(options))
  if (wants('node-lifecycle')) running.push(startNodeLifecycle(options))
  const { canary, probes, nodeConditions, issued } = options
  if (nodeConditions && issued) running.push(startNodeConditions({ ...options, ...nodeConditions, issued }))
  if (probes) running.push(startProbes({ ...options, ...probes, metrics: options.counters.probes }))
  if (canary) running.push(startCanary({ ...options, ...canary, metrics: options.counters.canary }))
  if (options.besides) running.push(options.besides())
  options.counters.running(only)
  return {
    async stop() {
      options.counters.running([])
      await Promise.all(running.map(controller => controller.stop()))
      // The last: until then there may be decisions to keep.
      await decisions?.stop()
    },
  }
}

function startDecisions(
  options: ControllersOptions & Pick<CsrControllersOptions, 'counters'>,
): RunningDecisionLog | undefined {
  const { decisionLog, leaderElection } = options
  if (!decisionLog) return undefined
  const { head } = options.counters
  return startDecisionLog({
    ...options,
    ...decisionLog,
    onHead: head,
    writer: leaderElection?.identity ?? 'rollcall',
  })
}

function authoritiesOf(signers: ControllersOptions['signers']): Record<string, AuthoritySource> {
  return Object.fromEntries(
    Object.entries(signers).flatMap(([name, ca]) => {
      if (!ca) return []
      return [[name, 'current' in ca ? ca : constantAuthority(authorityOf(ca.certificate, ca.signer))]]
    }),
  )
}
