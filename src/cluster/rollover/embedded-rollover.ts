/** Puts the rollover of the embedded control plane together, once its API listens. */
import { join } from 'node:path'
import type { OpenConnections } from '../../apiserver/http/open-connections.ts'
import type { ObjectReader } from '../../apiserver/reader.ts'
import { backupDatabase } from '../../apiserver/storage/sqlite-backup.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { type Lease, resources, type Secret } from '../../kube/types.ts'
import type { Clock, Disk, Log, Random } from '../../ports.ts'
import type { Leaf } from '../../sign/leaf.ts'
import type { LastingLedger } from '../../sign/ledger.ts'
import { apiServerBundle, publishTrustBundle } from '../../trust/cluster-trust-bundle.ts'
import { publishInTokens } from '../../trust/token-secrets.ts'
import { instanceName } from '../../trust/trust-report.ts'
import { publishClusterInfo } from '../cluster-info.ts'
import type { DataDirectory } from '../data-directory.ts'
import { replaceClientCas } from '../extension-authentication.ts'
import { leafLifetime, type Pki } from '../pki.ts'
import { readIfThere, replaceFile } from '../pki-files.ts'
import { ApiLease, thisInstance } from './api-lease.ts'
import type { EmbeddedControl, OwnLeaf } from './embedded-control.ts'
import { ForeignLeaves } from './foreign-leaves.ts'
import type { Place } from './handshakes.ts'
import type { OpenTrust } from './open-trust.ts'
import { signedBundles } from './signed-bundles.ts'
import { type RunningRollover, startRollover } from './start-rollover.ts'
import { trustSinks } from './trust-sinks.ts'

export interface EmbeddedRolloverOptions extends OpenTrust {
  directory: DataDirectory
  pki: Pki
  reader: ObjectReader
  client: KubeClient
  connections: Pick<OpenConnections, 'retire' | 'cut'>
  /** E.g. `https://127.0.0.1:6443`. */
  server: string
  place: Place
  ledger: LastingLedger
  leaves: Readonly<Record<string, OwnLeaf>>
  /** Serial numbers of the administrator's certificates that this process made. */
  issued: ReadonlySet<string>
  writeAdminKubeconfig(): Promise<void>
  writeBootstrapKubeconfig(): Promise<void>
  health(): { errorRate: number }
  clock: Clock
  random: Random
  disk: Disk
  log: Log
}

/** Milliseconds that leaves read from the ledger are used, where none was issued meanwhile. */
const leavesFresh = 2000

export async function startEmbeddedRollover(options: EmbeddedRolloverOptions): Promise<RunningRollover> {
  const { directory, pki, reader, client, server, clock, trust, disk, cas } = options
  const kubelets = {
    clientCertificate: () => pki.apiserverKubeletClient,
    certificateAuthority: () => trust.judgedBy('kubelet-serving'),
  }
  const complete = await ledgerIsComplete(options)
  const sinks = trustSinks({
    reader,
    disk,
    paths: directory,
    writers: {
      // The publisher follows what this place should hold.
      rootCa: () => {},
      tokenSecrets: pem => publishInTokens(client, reader.list<Secret>(resources.secrets), pem),
      clusterInfo: pem => publishClusterInfo(client, server, pem),
      bootstrapKubeconfig: () => options.writeBootstrapKubeconfig(),
      adminKubeconfig: () => options.writeAdminKubeconfig(),
      clientCas: pem => replaceClientCas(client, pem),
      trustBundle: pem => publishTrustBundle(client, apiServerBundle, pem),
    },
  })
  const foreign = new ForeignLeaves({
    ...options,
    directory: join(directory.root, 'ca'),
    seen: trust.seen,
    own: options.issued,
  })
  await foreign.load()
  const instance = await thisInstance(disk, clock)
  const bundles = (role: TrustRole) => signedBundles(role, options)
  const control: EmbeddedControl = {
    ...options,
    sinks,
    foreign,
    lease: new ApiLease({ reader, client, trust, bundles, instance, clock }),
    kubelets,
    leaves: cachedLeaves(options.ledger, clock),
    ledgerComplete: () => complete,
    own: { client: options.leaves },
    backUp: rotation => backUp(rotation, directory, disk),
    leader() {
      const lease = reader.get<Lease>(resources.leases, 'rollcall-controller', 'kube-system')
      const { holderIdentity = 'rollcall-embedded', leaseTransitions = 0 } = lease?.spec ?? {}
      return { identity: holderIdentity, token: leaseTransitions + 1 }
    },
    instance: instanceName(instance),
  }
  // P8: who changes the CA must not lose its own way in. In an emergency no CA signs yet when the old one is dropped.
  trust.beforeApplied(async next => {
    const accepted = trust.accepted('client', next)
    const ca = cas.authority('client', Math.max(...accepted))
    for (const leaf of Object.values(options.leaves))
      if (!accepted.includes(leaf.issuer() ?? 0)) await leaf.renew(ca)
  })
  trust.onApplied(before => {
    const accepted = trust.accepted('client', trust.state)
    const gone = cas.generations('client').filter(one => !accepted.includes(one))
    // Their next request would be refused; what they watch ends now.
    options.connections.cut(peer => gone.some(one => trust.seen.presents(peer, one)))
    const { reconnect } = trust.role('apiserver-serving')
    if (reconnect > before['apiserver-serving'].reconnect) options.connections.retire(() => true)
  })
  for (const leaf of Object.values(options.leaves))
    if (leaf.issuer() !== trust.role('client').sign.authority) await leaf.renew()
  await publishTrustBundle(client, apiServerBundle, trust.inSink('apiserver-serving', 'ClusterTrustBundle'))
  return startRollover(control)
}

function cachedLeaves(ledger: LastingLedger, clock: Clock): () => Promise<readonly Leaf[]> {
  let read: { at: number; leaves: readonly Leaf[] } | undefined
  return async () => {
    if (read && clock.monotonic() - read.at < leavesFresh) return read.leaves
    const leaves: Leaf[] = []
    for await (const leaf of ledger.issued) leaves.push(leaf)
    read = { at: clock.monotonic(), leaves }
    return leaves
  }
}

/** A ledger as old as the CA misses no leaf; a younger one only when the longest leaf from before has ended. */
async function ledgerIsComplete({ directory, pki, disk, clock }: EmbeddedRolloverOptions): Promise<boolean> {
  const path = join(directory.root, 'ca', 'ledger-since')
  const text = await readIfThere(disk, path)
  const now = clock.now()
  const young = pki.ca.certificate.notBefore + 15 * 60_000 > now
  const since = text === undefined ? (young ? 0 : now) : Number(text)
  if (text === undefined) await replaceFile(disk, path, `${since}`, 0o600)
  return since === 0 || now - since > leafLifetime
}

/** The state as it was before the rotation; made once for each. Rejects when it cannot be written. */
async function backUp(rotation: string, { root, database }: DataDirectory, disk: Disk): Promise<boolean> {
  const folder = join(root, 'backups')
  const path = join(folder, `before-${rotation}.db`)
  await disk.makeDirectory(folder, 0o700)
  if (!(await disk.list(folder)).includes(`before-${rotation}.db`)) backupDatabase(database, path)
  return true
}
