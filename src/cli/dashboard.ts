import type { Command } from 'commander'
import { RollcallError } from '../errors.ts'
import type { Transport } from '../kube/transport.ts'
import type { CommandIo, ConnectionFlags } from './command-io.ts'
import { addConnectionOptions } from './connect-kubeconfig.ts'
import { printable } from './printable.ts'
import { withApi } from './with-api.ts'

export function register(program: Command, io: CommandIo): void {
  const command = program
    .command('dashboard')
    .description('print a link that opens the dashboard as you: good once, for two minutes')
  addConnectionOptions(command).action(async (flags: ConnectionFlags) => {
    const { url, user } = await withApi(io, flags, ({ transport, server }) => makeLink(transport, server))
    io.stdout(`${printable(url)}\n`)
    io.stderr(
      `opens the dashboard as ${printable(user)}, once, within two minutes; it is a key: tell nobody\n`,
    )
  })
}

/** The link is made with the credential of the kubeconfig, and the session that it opens can do what that can. */
async function makeLink(
  transport: Transport | undefined,
  server: string,
): Promise<{ url: string; user: string }> {
  if (!transport) throw new RollcallError('API_UNREACHABLE', `${server} cannot be asked for a link`)
  const answer = await transport.request({
    method: 'POST',
    url: '/dashboard/api/links',
    headers: { accept: 'application/json', 'content-type': 'application/json', 'user-agent': 'rollcall' },
    body: new TextEncoder().encode('{}'),
  })
  const text = await textOf(answer.body)
  if (answer.status === 404 || answer.status === 403)
    throw new RollcallError(
      'API_STATUS',
      `${server} serves no dashboard to you; rollcall up and rollcall server do, unless started with --no-dashboard`,
    )
  const { url, user, message } = read(text)
  if (answer.status !== 201 || url === undefined || user === undefined)
    throw new RollcallError(
      'API_STATUS',
      `${server} made no link: ${printable(message ?? `HTTP ${answer.status}`)}`,
    )
  return { url, user }
}

function read(text: string): { url?: string; user?: string; message?: string } {
  try {
    return JSON.parse(text)
  } catch {
    return {}
  }
}

async function textOf(body: Uint8Array | AsyncIterable<Uint8Array>): Promise<string> {
  if (body instanceof Uint8Array) return new TextDecoder().decode(body)
  const parts: Uint8Array[] = []
  for await (const part of body) parts.push(part)
  return new TextDecoder().decode(Buffer.concat(parts))
}
