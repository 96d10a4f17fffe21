import { hostname } from 'node:os'
import { type Command, InvalidArgumentError } from 'commander'
import type { AgentOptions, CredentialPluginOptions } from '../agent/agent-options.ts'
import { RollcallError } from '../errors.ts'
import { type Pkcs11Uri, parsePkcs11Uri } from '../keys/pkcs11/uri.ts'
import { type AttestFlags, attestFlags, attestOptions } from './agent-attest.ts'
import { type BesideFlags, besideFlags, besideOptions } from './agent-beside.ts'
import { applyConfig } from './agent-config.ts'
import { type ControlPlaneFlags, controlPlaneFlags, controlPlaneOptions } from './agent-control-plane.ts'
import { type DiscoveryFlags, discoveryFlags, discoveryOptions } from './agent-discovery.ts'
import { type StaticPodFlags, staticPodFlags, staticPodOptions } from './agent-static-pods.ts'
import type { CommandIo } from './command-io.ts'
import { lineLog } from './line-log.ts'
import { nodeAddresses, parseNodeName } from './node-name-and-addresses.ts'
import { wholeNumber } from './number-option.ts'
import { startPodsFirst } from './start-pods-first.ts'
import { untilStopped } from './until-stopped.ts'

interface AgentFlags extends DiscoveryFlags, AttestFlags, BesideFlags, ControlPlaneFlags, StaticPodFlags {
  config?: string
  node: string
  nodeIp?: string
  bootstrapKubeconfig?: string
  kubeconfig: string
  trustRoots?: string
  certDir: string
  rotateCertificates: boolean
  serverTlsBootstrap: boolean
  address: string
  port: number
  credentialPlugin: CredentialPluginOptions[]
  clientKey?: Pkcs11Uri
  servingKey?: Pkcs11Uri
  bootstrapClientCertificate?: string
  bootstrapClientKey?: Pkcs11Uri
}

export function register(program: Command, io: CommandIo): void {
  const command = program
    .command('agent')
    .description('Run the node side: get, hold, renew and recover the certificates of this node.')
    .option('--config <file>', 'settings in YAML: these flags in camelCase; a flag that is given wins')
    .option('--node <name>', 'name of the Node', parseNodeName, hostname().toLowerCase())
    .option('--node-ip <ip,…>', 'addresses of the node; they become InternalIPs')
    .option('--bootstrap-kubeconfig <file>', 'credential to join with; read again at every attempt')
    .option(
      '--kubeconfig <file>',
      "the node's own kubeconfig; written when it is missing",
      '/var/lib/rollcall/kubeconfig',
    )
    .option(
      '--trust-roots <file>',
      'take CAs from bundles alone that these trust roots have signed, and say in the Lease which are loaded',
    )
    .option('--cert-dir <dir>', 'where the pairs are kept', '/var/lib/rollcall/pki')
    .option(
      '--client-key <uri>',
      "pkcs11: URI of a token in which the client certificate's keys are made, never to leave it; default: files",
      parseClientKey,
    )
    .option(
      '--serving-key <uri>',
      "the same for the serving certificate's keys, with --server-tls-bootstrap",
      parseClientKey,
    )
    .option(
      '--bootstrap-client-certificate <file>',
      'certificate to join with, whose key is in a token; the bootstrap kubeconfig then need only name the API',
    )
    .option('--bootstrap-client-key <uri>', 'pkcs11: URI of its key', parsePkcs11Uri)
    .option('--rotate-certificates', 'renew the client certificate before it lapses', false)
    .option('--server-tls-bootstrap', 'have the serving certificate issued by the cluster', false)
    .option('--address <ip>', 'where the HTTPS server listens', '0.0.0.0')
    .option('--port <port>', 'port of the HTTPS server; 0: any free one', wholeNumber(0, 65_535), 10_250)
    .option(
      '--credential-plugin <socket[,pod=NAMESPACE/NAME][,owner=UID]>',
      'unix socket of a plugin that gives the bootstrap credential, and the static pod that serves it; may be repeated',
      (text: string, before: CredentialPluginOptions[]) => [...before, parsePlugin(text)],
      [],
    )
  controlPlaneFlags(besideFlags(discoveryFlags(attestFlags(staticPodFlags(command))))).action(
    async ({ config }: AgentFlags) => {
      if (config !== undefined) applyConfig(command, config)
      await agent(command.opts<AgentFlags>(), io)
    },
  )
}

async function agent(flags: AgentFlags, io: CommandIo): Promise<void> {
  const stopped = untilStopped()
  const log = lineLog()
  const options = agentOptions(flags)
  const staticPods = await startPodsFirst(staticPodOptions(flags), options, log)
  const { runAgent } = await import('./run-agent.ts')
  await runAgent(options, { log, staticPods, stopped }, io)
}

/** What the flags mean. Throws USAGE. */
function agentOptions(flags: AgentFlags): AgentOptions {
  return {
    nodeName: flags.node,
    addresses: nodeAddresses(flags.node, flags.nodeIp),
    certDirectory: flags.certDir,
    kubeconfigPath: flags.kubeconfig,
    ...(flags.bootstrapKubeconfig !== undefined && { bootstrapKubeconfigPath: flags.bootstrapKubeconfig }),
    ...(flags.trustRoots !== undefined && { trustRootsPath: flags.trustRoots }),
    rotateCertificates: flags.rotateCertificates,
    serverTLSBootstrap: flags.serverTlsBootstrap,
    listenAddress: flags.address,
    port: flags.port,
    credentialPlugins: flags.credentialPlugin,
    ...(flags.clientKey && { clientKeyToken: flags.clientKey }),
    ...servingKeyToken(flags),
    ...bootstrapCertificate(flags),
    ...attestOptions(flags),
    ...discoveryOptions(flags),
    ...besideOptions(flags),
    ...controlPlaneOptions(flags),
  }
}

function servingKeyToken({ servingKey, serverTlsBootstrap, besideKubelet }: AgentFlags) {
  if (servingKey === undefined) return {}
  if (besideKubelet !== undefined)
    throw new RollcallError(
      'USAGE',
      '--serving-key: the kubelet beside serves itself and reads its key from a file; leave it out.',
    )
  if (!serverTlsBootstrap)
    throw new RollcallError(
      'USAGE',
      '--serving-key: only certificates that the cluster issues have their keys in a token: add --server-tls-bootstrap.',
    )
  return { servingKeyToken: servingKey }
}

function bootstrapCertificate({
  bootstrapClientCertificate: certificate,
  bootstrapClientKey: key,
}: AgentFlags) {
  if (certificate !== undefined && key !== undefined) return { bootstrapCertificate: { certificate, key } }
  if (certificate === undefined && key === undefined) return {}
  throw new RollcallError('USAGE', '--bootstrap-client-certificate and --bootstrap-client-key go together.')
}

function parseClientKey(text: string): Pkcs11Uri {
  const uri = parsePkcs11Uri(text)
  if (uri.object !== undefined || uri.id !== undefined)
    throw new InvalidArgumentError(
      'Keys are made as they are needed: name the token alone, without object and id.',
    )
  if (uri.modulePath === undefined) throw new InvalidArgumentError('Add ?module-path=/path/of/the/module.so.')
  return uri
}

function parsePlugin(text: string): CredentialPluginOptions {
  const [socket = '', ...rest] = text.split(',')
  const options = new Map(rest.map(part => [part.split('=', 1)[0], part.slice(part.indexOf('=') + 1)]))
  const [staticPod, owner] = [options.get('pod'), options.get('owner')]
  const known = [...options.keys()].every(name => name === 'pod' || name === 'owner')
  if (!socket.startsWith('/') || !known || (owner !== undefined && !/^\d+$/.test(owner)))
    throw new InvalidArgumentError('Give /path/of/socket[,pod=NAMESPACE/NAME][,owner=UID].')
  return { socket, ...(staticPod && { staticPod }), ...(owner && { owner: Number(owner) }) }
}
