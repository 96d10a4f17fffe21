/** Approval, signing and cleaning on one shared cache of CertificateSigningRequests. */
import type { AskAccess } from '../approve/access-review.ts'
import { startApprovalController } from '../approve/controller.ts'
import type { EvidenceSource } from '../approve/evidence/external/source.ts'
import type { ApprovalPolicy } from '../approve/policy.ts'
import { policiesFromCluster } from '../approve/policy-from-cluster.ts'
import { policiesFromFile } from '../approve/policy-from-file.ts'
import { type FollowPolicies, fixedPolicy } from '../approve/policy-source.ts'
import type { KubeClient } from '../kube/client.ts'
import { createEventRecorder } from '../kube/event-recorder.ts'
import { startReflector } from '../kube/reflector.ts'
import { formatTime } from '../kube/time-format.ts'
import { type CertificateSigningRequest, resources } from '../kube/types.ts'
import type { Clock, Disk, Log, Random } from '../ports.ts'
import type { AuthoritySource } from '../sign/authority.ts'
import { startCleaner } from '../sign/cleaner.ts'
import { startSigningController } from '../sign/controller.ts'
import type { Leaf } from '../sign/leaf.ts'
import { type Ledger, type LedgerEntry, noLedger } from '../sign/ledger.ts'
import type { DecisionLog } from '../survey/audit/decision-log.ts'
import { readableLeaf, readIssued, readIssuedUnkept } from '../survey/request-facts.ts'
import { settledHeading } from '../survey/settled-requests.ts'
import type { Certificate } from '../x509/certificate.ts'
import { type ControllerName, controllerNames } from './controller-name.ts'
import { condensed } from './kept-request.ts'
import type { ControllerMetrics } from './metrics.ts'
import type { RunningControllers } from './options.ts'

export interface CsrControllersOptions {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  authorities: Readonly<Record<string, AuthoritySource>>
  certificateLifetimeSeconds: number
  only?: readonly ControllerName[]
  askAccess?: AskAccess
  workers?: number
  approvalPolicy?: ApprovalPolicy | undefined
  policyFile?: string | undefined
  ledger?: Ledger
  issued?: AsyncIterable<Leaf>
  evidenceSources?: readonly EvidenceSource[] | undefined
  disk?: Pick<Disk, 'read'>
  /** Keeps decisions before they are written; absent: they are told to the log alone. */
  decisions?: Pick<DecisionLog, 'record'> | undefined
  counters: ControllerMetrics
  watchTimeoutSeconds?: number
}

export function startCsrControllers(options: CsrControllersOptions): RunningControllers {
  const { client, clock, random, log, counters, only = controllerNames } = options
  const shared = { client, clock, random, log, cached: (name: string) => csrs.get(name) }
  const csrsSynced = Promise.withResolvers<void>()
  const events = createEventRecorder({ client, clock, log, component: 'rollcall-controller' })

  const survey = counters.survey.begin({
    requests: () => (csrs.hasSynced() ? csrs.list() : undefined),
    settled: () => csrs.tallied(),
    nodesSynced: () => approval?.nodesSynced() ?? false,
  })
  const approval = only.includes('approval')
    ? startApprovalController({
        ...shared,
        workers: options.workers,
        askAccess: options.askAccess,
        followPolicies: followPoliciesOf(options),
        onShadow: counters.shadow,
        csrsSynced: csrsSynced.promise,
        issued: options.issued,
        evidenceSources: options.evidenceSources,
        disk: options.disk,
        watchTimeoutSeconds: options.watchTimeoutSeconds,
        signsFor: signer => only.includes('signing') && Object.hasOwn(options.authorities, signer),
        report: (csr, type, { code, message }) => events.record(csr, type, code, message),
        reportNode: (node, { code, message }) => events.record(node, 'Warning', code, message),
        record: decision => options.decisions?.record(decision) ?? Promise.resolve(),
        onVerdict: counters.verdict,
        onNode: survey.nodeChanged,
      })
    : undefined
  const signing = only.includes('signing')
    ? startSigningController({
        ...shared,
        authorities: options.authorities,
        workers: options.workers,
        certificateLifetimeSeconds: options.certificateLifetimeSeconds,
        longestLifetime: async csr => await approval?.longestLifetime(csr),
        ledger: toldTo(options.ledger ?? noLedger, entry => approval?.certificateIssued(entry)),
        onIssued: counters.issued,
        onWaiting: (csr, message) => events.record(csr, 'Warning', 'SignerUnavailable', message),
        onCapped(csr, { notAfter, issuer }) {
          counters.capped(csr)
          const until = formatTime(notAfter)
          events.record(csr, 'Warning', 'CappedByCA', `the certificate ends ${until}, with the CA ${issuer}`)
        },
        onFailed(csr, message) {
          counters.failed(csr)
          events.record(csr, 'Warning', 'SignerValidationFailure', message)
        },
      })
    : undefined
  const csrs = startReflector<CertificateSigningRequest>({
    client,
    clock,
    random,
    log,
    resource: resources.certificateSigningRequests,
    condense: condensed,
    tally: csr => settledHeading(csr, clock.now()),
    ...(options.watchTimeoutSeconds && { watchSeconds: options.watchTimeoutSeconds }),
    onChange(type, csr, previous) {
      const leaf = leafOf(csr, clock.now())
      if (type !== 'DELETED') survey.requestChanged(csr, leaf)
      approval?.csrChanged(type, csr, previous, leaf)
      signing?.csrChanged(csr)
    },
  })
  void csrs.synced.then(csrsSynced.resolve)
  const cleaner = only.includes('cleaning')
    ? startCleaner({
        client,
        clock,
        log,
        begin: csrs.synced,
        onCleaned: counters.cleaned,
      })
    : undefined

  return {
    async stop() {
      survey.end()
      await Promise.all([approval?.stop(), signing?.stop(), cleaner?.stop(), csrs.stop()])
      await events.flush()
    },
  }
}

/** Of what was answered long ago, which come by the hundred thousand, nobody will read it again. */
function leafOf(csr: CertificateSigningRequest, now: number): Certificate | undefined {
  if (!csr.status?.certificate) return undefined
  const read = settledHeading(csr, now) === undefined ? readIssued : readIssuedUnkept
  return readableLeaf(read(csr))
}

/** The policy given, else the file, else the CertificatePolicy objects of the cluster. */
function followPoliciesOf(options: CsrControllersOptions): FollowPolicies {
  const { approvalPolicy, policyFile: path, disk } = options
  if (approvalPolicy) return fixedPolicy(approvalPolicy)
  return path !== undefined && disk
    ? policiesFromFile({ ...options, path, disk })
    : policiesFromCluster(options)
}

/** The ledger, which also tells what it recorded: a request is gone within the hour, its certificate lives on. */
function toldTo(ledger: Ledger, onRecord: (entry: LedgerEntry) => void): Ledger {
  return {
    async record(entry) {
      await ledger.record(entry)
      onRecord(entry)
    },
  }
}
