/** `controller --rollover FILE`: its file, and a way to the API that follows the CAs it changes. */
import { type OpenGenericRollover, openGenericRollover } from '../cluster/generic/open-generic-rollover.ts'
import { type OwnConnection, openOwnConnection } from '../cluster/generic/own-connection.ts'
import { parseRolloverFile, type RolloverFile } from '../cluster/generic/rollover-file.ts'
import { textAt } from '../cluster/generic/sinks.ts'
import { hostPorts } from '../cluster/host-ports.ts'
import type { ControllerName } from '../controller/controller-name.ts'
import { RollcallError } from '../errors.ts'
import { systemSpawn } from '../host/spawn.ts'
import { createClient } from '../kube/client.ts'
import { impersonating } from '../kube/impersonating-transport.ts'
import { connectUndici } from '../kube/undici-transport.ts'
import type { Log } from '../ports.ts'
import type { LastingLedger } from '../sign/ledger.ts'
import { canaryGroup, canaryUser } from '../survey/canary/run-canary.ts'
import type { ConnectedApi, ConnectionFlags } from './command-io.ts'
import { kubeconfigConnection } from './connect-kubeconfig.ts'
import { keyDoors } from './key-doors.ts'

export interface Rolling {
  file: RolloverFile
  connection: OwnConnection
  api: ConnectedApi
}

type Flags = ConnectionFlags & { rollover?: string; leaderElection: boolean }

/** Rejects with USAGE, or KUBECONFIG_INVALID. */
export async function rolloverApi(flags: Flags, only: readonly ControllerName[], log: Log): Promise<Rolling> {
  const path = flags.rollover ?? ''
  const text = await textAt(hostPorts.disk, path)
  if (text === undefined) throw usage(`${path} is not there`)
  const { kind, mode } = await hostPorts.disk.stat(path)
  // A link's own mode says nothing; that of a ConfigMap's volume leads to a file that nobody writes.
  if (kind === 'file' && (mode & 0o002) !== 0)
    throw usage(`${path} can be written by everybody, and names what is run here; chmod go-w it`)
  const file = parseRolloverFile(text, path)
  if (!flags.leaderElection) throw usage('only the leader changes CAs; leave --no-leader-election out')
  if (file.authorities.client && !file.kubeadm && !file.hooks.signWith && !only.includes('signing'))
    throw usage('the CA of client is changed where it signs: --only has to have signing')
  const ports = { ...hostPorts, environment: process.env }
  const read = () => kubeconfigConnection(flags, ports)
  const connection = await openOwnConnection({ read, connect: connectUndici, clock: hostPorts.clock, log })
  const { server, clientCertificate } = await read()
  const close = () => connection.closeConnections()
  const certificate = clientCertificate && { certificate: clientCertificate.certificate }
  return {
    file,
    connection,
    api: { client: createClient(connection), transport: connection, server, ...certificate, close },
  }
}

export function openRollover(
  { file, connection, api }: Rolling,
  more: { ledger: LastingLedger; certificateLifetimeSeconds: number; identity: string; log: Log },
): Promise<OpenGenericRollover> {
  return openGenericRollover({
    ...hostPorts,
    ...more,
    file,
    connection,
    client: api.client,
    ...(file.hooks.signWith && {
      asCanary: createClient(impersonating(connection, canaryUser, canaryGroup)),
    }),
    longestLeaf: more.certificateLifetimeSeconds * 1000,
    doors: keyDoors(),
    spawn: systemSpawn,
  })
}

/** One CA would sign here and another there: which one signs is the rollover's to say. Throws USAGE. */
export function forbidTwice(given: readonly string[], rollover: OpenGenericRollover | undefined): void {
  const twice = given.find(name => rollover && name in rollover.signers)
  if (twice !== undefined) throw usage(`the CA of ${twice} is in its file; leave --signing-cert of it out`)
}

const usage = (why: string) => new RollcallError('USAGE', `--rollover: ${why}.`)
