import type { Registry } from 'prom-client'
import type { Access } from '../apiserver/access/access.ts'
import { attributesOf, subjectOf } from '../apiserver/resources/review-rules.ts'
import type { RunningControllers } from '../controller/options.ts'
import { startControllers } from '../controller/start-controllers.ts'
import type { KubeClient } from '../kube/client.ts'
import { signerNames } from '../kube/types.ts'
import type { LastingLedger } from '../sign/ledger.ts'
import { rootCaName } from '../trust/root-ca.ts'
import type { ControlPlaneOptions } from './control-plane-options.ts'
import type { EmbeddedTrust } from './rollover/embedded-trust.ts'
import { roleOfSigner } from './rollover/leaf-holders.ts'

/** The controllers of this process: their API is its own. */
export function startOwnControllers(
  { directory, clock, random, log, disk, certificateLifetimeSeconds }: ControlPlaneOptions,
  trust: EmbeddedTrust,
  client: KubeClient,
  access: Access,
  metrics: Registry,
  ledger: LastingLedger,
): RunningControllers {
  return startControllers({
    client,
    // Their API is a function call away and takes no harm: the more wait for the disk, the fewer writes there are.
    workers: 32,
    askAccess: async spec => access.authorize(attributesOf(subjectOf(spec), spec)).allowed,
    clock,
    random,
    log,
    signers: Object.fromEntries(
      Object.values(signerNames).map(name => [name, trust.source(roleOfSigner(name))]),
    ),
    certificateLifetimeSeconds,
    rootCertificates: {
      current: () => trust.inSink('apiserver-serving', rootCaName),
      onChange: run => trust.onApplied(run),
    },
    disk,
    decisionLog: { path: directory.decisionLog, disk },
    metrics,
    ledger,
    issued: ledger.issued,
    // The data directory's lock already makes this process the only one; the Lease tells `csr explain` who decides. The
    // identity is always the same, so that a new process takes over at once after a kill.
    leaderElection: { identity: 'rollcall-embedded', namespace: 'kube-system', name: 'rollcall-controller' },
  })
}
