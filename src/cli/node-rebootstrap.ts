import { type Command, InvalidArgumentError } from 'commander'
import { createBootstrapToken } from '../cluster/bootstrap-token.ts'
import { parseGoDuration } from '../cluster/go-duration.ts'
import { systemDisk } from '../host/disk.ts'
import { systemRandom } from '../host/random.ts'
import { isStatus, type KubeClient } from '../kube/client.ts'
import { encodeKubeconfig, kubeadmBootstrapNames } from '../kube/encode-kubeconfig.ts'
import { type KubeNode, resources, type Secret as SecretObject } from '../kube/types.ts'
import type { Disk, Random } from '../ports.ts'
import { shellWord } from '../survey/explanation.ts'
import type { CommandIo, ConnectedApi, ConnectionFlags } from './command-io.ts'
import { addConnectionOptions } from './connect-kubeconfig.ts'
import { readTrust } from './token-create.ts'
import { withApi } from './with-api.ts'

interface RebootstrapFlags extends ConnectionFlags {
  ttl: string
  out: string
  force: boolean
  deleteNode: boolean
}

export function register(
  node: Command,
  io: CommandIo,
  ports: { random: Random; disk: Disk } = { random: systemRandom, disk: systemDisk },
): void {
  const command = node
    .command('rebootstrap')
    .argument('<name>', 'the Node', parseName)
    .description('make what brings back a node whose certificate and bootstrap credential have both ended')
    .option(
      '--out <file>',
      'the bootstrap kubeconfig to write; it must not be there',
      'bootstrap-kubelet.conf',
    )
    .option('--ttl <duration>', 'how long its token is good for', '1h')
    .option('--delete-node', 'delete the Node first: where a policy says rebootstrap: deny', false)
    .option('--force', 'also for a node that is Ready', false)
  addConnectionOptions(command).action((name: string, flags: RebootstrapFlags) =>
    withApi(io, flags, api => rebootstrap(api, io, name, flags, ports)),
  )
}

async function rebootstrap(
  api: ConnectedApi,
  io: CommandIo,
  name: string,
  flags: RebootstrapFlags,
  { random, disk }: { random: Random; disk: Disk },
): Promise<void> {
  const found = await nodeOf(api.client, name)
  if (found && isReady(found) && !flags.force) {
    io.stderr(
      `node ${name} is Ready: it holds a certificate that is taken. --force makes a credential all the same.\n`,
    )
    return io.exitWith(3)
  }
  const trust = await readTrust(api)
  const made = createBootstrapToken(io.clock.now() + parseGoDuration(flags.ttl, '--ttl') * 1000, random)
  const text = encodeKubeconfig({ ...trust, user: { token: made.token }, names: kubeadmBootstrapNames })
  // Before the token is good for anything: a file that cannot be written must leave none behind.
  await disk.write(flags.out, text.reveal(), { mode: 0o600, exclusive: true, sync: true })
  const description = Buffer.from(`rollcall node rebootstrap ${name}`).toString('base64')
  const data = { ...made.object.data, description }
  try {
    await api.client.create<SecretObject>(resources.secrets, { ...made.object, data })
  } catch (error) {
    await disk.remove(flags.out)
    throw error
  }
  if (found && flags.deleteNode) await api.client.delete(resources.nodes, { name })
  io.stdout(stepsFor(name, flags, made.id))
}

/** What is left to do, on the node; a kubelet and an agent look for the file in different ways. */
function stepsFor(name: string, { out, ttl }: RebootstrapFlags, id: string): string {
  const target = `${shellWord(name)}:/etc/kubernetes/bootstrap-kubelet.conf`
  return [
    `${out} holds a bootstrap token (${id}), good for ${ttl} and, as any, not for ${name} alone. Then:`,
    `  scp ${shellWord(out)} ${target} && rm ${shellWord(out)}`,
    'On the node, with an agent: nothing more, it reads the file with its next attempt. With a kubelet alone:',
    '  rollcall node repair     # moves away what has ended, and names the copy',
    '  systemctl restart kubelet',
    `Then: rollcall token rm ${id}`,
    '',
  ].join('\n')
}

async function nodeOf(client: KubeClient, name: string): Promise<KubeNode | undefined> {
  try {
    return await client.get<KubeNode>(resources.nodes, { name })
  } catch (error) {
    if (isStatus(error, 'NotFound')) return undefined
    throw error
  }
}

function isReady({ status }: KubeNode): boolean {
  return status?.conditions?.some(({ type, status }) => type === 'Ready' && status === 'True') ?? false
}

/** Reports 42, 43: a kubelet's name is lower case, and never empty. */
function parseName(text: string): string {
  if (/^[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?$/.test(text)) return text
  throw new InvalidArgumentError('It is the name of a Node: lower case letters, digits, - and .')
}
