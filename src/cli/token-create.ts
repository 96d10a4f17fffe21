import { type Command, Option } from 'commander'
import { bootstrapGroup, createBootstrapToken } from '../cluster/bootstrap-token.ts'
import { parseGoDuration } from '../cluster/go-duration.ts'
import { readClusterInfo } from '../doctor/gather/trust.ts'
import { RollcallError } from '../errors.ts'
import { systemRandom } from '../host/random.ts'
import { encodeKubeconfig, kubeadmBootstrapNames } from '../kube/encode-kubeconfig.ts'
import { formatTime } from '../kube/time-format.ts'
import { type ConfigMap, resources, type Secret as SecretObject } from '../kube/types.ts'
import type { Random } from '../ports.ts'
import type { CommandIo, ConnectedApi, ConnectionFlags } from './command-io.ts'
import { addConnectionOptions } from './connect-kubeconfig.ts'
import { withApi } from './with-api.ts'

interface CreateFlags extends ConnectionFlags {
  ttl: string
  groups: string
  usages: string
  description?: string
  printKubeconfig?: boolean
  output: 'text' | 'json'
}

export function register(token: Command, io: CommandIo, random: Random = systemRandom): void {
  const command = token
    .command('create')
    .description('make a bootstrap token and print it; it is not shown again')
    .option('--ttl <duration>', 'how long it is good for, e.g. 2h; 0: for ever', '24h')
    .option('--groups <groups>', 'its groups, separated by commas', bootstrapGroup)
    .option('--usages <usages>', 'signing, authentication or both', 'signing,authentication')
    .option('--description <text>', 'what it is for')
    .option('--print-kubeconfig', 'print a bootstrap kubeconfig with it in place of the token')
    .addOption(new Option('-o, --output <format>', 'how to print').choices(['text', 'json']).default('text'))
  addConnectionOptions(command).action(async (flags: CreateFlags) => {
    await withApi(io, flags, api => create(api, io, flags, random))
  })
}

async function create(api: ConnectedApi, io: CommandIo, flags: CreateFlags, random: Random): Promise<void> {
  const seconds = flags.ttl === '0' ? 0 : parseGoDuration(flags.ttl, '--ttl')
  const expiresAt = io.clock.now() + seconds * 1000
  const made = createBootstrapToken(expiresAt, random)
  const data = { ...made.object.data, ...fields(flags) }
  // kubeadm: no expiration at all means for ever.
  if (seconds === 0) delete data.expiration
  // Before the token exists: a kubeconfig that cannot be made must not leave one behind.
  const trust = flags.printKubeconfig ? await readTrust(api) : undefined
  await api.client.create<SecretObject>(resources.secrets, { ...made.object, data })
  if (trust) {
    const user = { token: made.token }
    io.stdout(encodeKubeconfig({ ...trust, user, names: kubeadmBootstrapNames }).reveal())
    return
  }
  if (flags.output === 'text') return io.stdout(`${made.token.reveal()}\n`)
  const expires = seconds === 0 ? {} : { expires: formatTime(expiresAt) }
  io.stdout(`${JSON.stringify({ id: made.id, token: made.token.reveal(), ...expires }, null, 2)}\n`)
}

const allowedGroup = /^system:bootstrappers:[a-z0-9:-]{0,255}[a-z0-9]$/

/** What the flags change in the Secret. Throws USAGE. */
function fields({ groups, usages, description }: CreateFlags): Record<string, string> {
  const given = usages.split(',')
  const unknown = given.filter(usage => usage !== 'signing' && usage !== 'authentication')
  if (unknown.length > 0)
    throw new RollcallError('USAGE', `--usages: ${unknown.join(', ')} is neither signing nor authentication`)
  const wrong = groups.split(',').filter(group => !allowedGroup.test(group))
  if (wrong.length > 0)
    throw new RollcallError(
      'USAGE',
      `--groups: ${wrong.join(', ')} must begin with system:bootstrappers: and be lower case`,
    )
  const encode = (text: string) => Buffer.from(text).toString('base64')
  return {
    'usage-bootstrap-authentication': encode(String(given.includes('authentication'))),
    'usage-bootstrap-signing': encode(String(given.includes('signing'))),
    'auth-extra-groups': encode(groups),
    ...(description !== undefined && { description: encode(description) }),
  }
}

/** What a joining node needs beside the token: cluster-info tells, or our own address and kube-root-ca.crt. */
export async function readTrust({ client, server }: ConnectedApi) {
  const info = await readClusterInfo(client)
  if (info.server !== undefined && info.certificateAuthority)
    return { server: info.server, certificateAuthority: { pem: info.certificateAuthority } }
  const target = { name: 'kube-root-ca.crt', namespace: 'kube-system' }
  const { data } = await client.get<ConfigMap>(resources.configMaps, target)
  return { server, certificateAuthority: { pem: data?.['ca.crt'] ?? '' } }
}
