import { RollcallError, systemCode } from '../../errors.ts'
import type { ExecSourceOptions } from '../../join/exec-source.ts'
import { ApiStatusError, createClient } from '../../kube/client.ts'
import type { Connect } from '../../kube/transport.ts'
import { type Gathered, type GatheredArtifacts, nothingGathered } from '../artifacts/artifacts.ts'
import type { BootstrapAttempt, DiskSpace, TokenProof } from '../artifacts/node-artifacts.ts'
import { lookAtServer } from './api-server.ts'
import { proveToken } from './bootstrap-token-proof.ts'
import { type ReadOnlyDisk, readCertDirectory } from './cert-directory.ts'
import { runExecPlugins } from './exec-plugins.ts'
import { readJoinPins } from './join-pins.ts'
import { type ReadKubeconfig, readKubeconfigFile } from './kubeconfig-file.ts'
import { readKubeletConfig } from './kubelet-config.ts'
import { type LogDisk, readLogs } from './logs.ts'
import type { Machine } from './machine.ts'
import { readNodeName } from './node-name.ts'
import type { LookAtTls } from './ports.ts'
import { refusalsOf } from './refusals.ts'
import { readSigningFiles } from './signing-files.ts'

export interface NodeFiles {
  certDirectory: string
  kubeconfig: string
  bootstrapKubeconfig: string
  /** KubeletConfiguration; one that is not there is no fault. */
  kubeletConfig: string
  /** What the signer signs with, where this node is one of the control plane. */
  signing: { certificate: string; key: string }
  /** kubeadm's flags of the kubelet. */
  kubeletFlags: string
  /** SHA-256 of CA keys in lower-case hexadecimal that this node joins by. */
  pins?: readonly string[]
  logs?: readonly string[]
}

export interface NodePorts {
  machine: Machine
  disk: ReadOnlyDisk & LogDisk
  connect: Connect
  lookAtTls: LookAtTls
  /** To run credential plugins; absent: none is run. */
  plugins?: Pick<ExecSourceOptions, 'spawn' | 'clock' | 'environment'>
}

/** What a node holds on its disk, and what its API server says to it. No key is kept, only whether it fits. */
export async function gatherNode(files: NodeFiles, ports: NodePorts): Promise<GatheredArtifacts> {
  const { disk, connect, lookAtTls, machine, plugins } = ports
  const [certDirectory, kubeconfig, bootstrapKubeconfig] = await Promise.all([
    readCertDirectory(files.certDirectory, disk),
    readKubeconfigFile(files.kubeconfig, disk),
    readKubeconfigFile(files.bootstrapKubeconfig, disk),
  ])
  const server = kubeconfig.facts.server ?? bootstrapKubeconfig.facts.server
  const nodeName = await readNodeName(files.kubeletFlags, machine.hostname(), disk)
  const all: GatheredArtifacts = {
    ...nothingGathered('not found on a node: rollcall doctor'),
    certDirectory,
    kubeconfig: { status: 'ok', value: kubeconfig.facts },
    bootstrapKubeconfig: { status: 'ok', value: bootstrapKubeconfig.facts },
    ...(server === undefined ? {} : await lookAtServer(server, lookAtTls)),
    kubeletConfig: await readKubeletConfig(files.kubeletConfig, disk),
    bootstrapAttempt: await tryBootstrap(bootstrapKubeconfig, connect),
    tokenProof: await proofOf(bootstrapKubeconfig, connect),
    signingFiles: await readSigningFiles(files.signing, disk),
    nodeName: { status: 'ok', value: nodeName },
    joinPins: await readJoinPins(server, files.pins ?? [], connect),
    execPlugins: await runExecPlugins(
      [bootstrapKubeconfig, kubeconfig],
      plugins && { ...plugins, disk, nodeName: nodeName.name },
    ),
    ...(files.logs && files.logs.length > 0 && { logLines: await readLogs(files.logs, disk) }),
    diskSpace: await spaceOf(files.certDirectory, machine),
  }
  return { ...all, refusals: refusalsOf(all) }
}

async function proofOf({ connection }: ReadKubeconfig, connect: Connect): Promise<Gathered<TokenProof>> {
  if (!connection?.bearerToken) return { status: 'absent', reason: 'the bootstrap kubeconfig holds no token' }
  const { bearerToken, ...nobody } = connection
  const anonymous = connect(nobody)
  try {
    return await proveToken({ bearerToken }, anonymous)
  } finally {
    anonymous.closeConnections()
  }
}

async function spaceOf(path: string, { space }: Machine): Promise<Gathered<DiskSpace>> {
  try {
    return { status: 'ok', value: { path, ...(await space(path)) } }
  } catch (error) {
    const code = systemCode(error)
    if (code === undefined) throw error
    return code === 'ENOENT'
      ? { status: 'absent', reason: `there is no ${path}` }
      : { status: 'failed', reason: `${path}: ${code}` }
  }
}

/** Asks for something that every authenticated user may have: 401 says that the token is not known. */
async function tryBootstrap(
  { connection }: ReadKubeconfig,
  connect: Connect,
): Promise<Gathered<BootstrapAttempt>> {
  if (!connection?.bearerToken) return { status: 'absent', reason: 'the bootstrap kubeconfig holds no token' }
  const { server } = connection
  const transport = connect(connection)
  try {
    await createClient(transport).raw('/apis')
    return { status: 'ok', value: { server, status: 200, message: '' } }
  } catch (error) {
    if (error instanceof ApiStatusError) {
      const { code, message = '' } = error.status
      return { status: 'ok', value: { server, status: code, message } }
    }
    if (error instanceof RollcallError) return { status: 'failed', reason: error.message }
    throw error
  } finally {
    transport.closeConnections()
  }
}
