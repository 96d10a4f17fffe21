import type { Command } from 'commander'
import type { BootstrapTokenFacts } from '../doctor/artifacts/cluster-artifacts.ts'
import { listBootstrapTokens } from '../doctor/gather/tokens.ts'
import { formatAge } from '../kube/time-format.ts'
import type { CommandIo, ConnectionFlags } from './command-io.ts'
import { addConnectionOptions } from './connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from './output.ts'
import { type Column, formatTable } from './table.ts'
import { withApi } from './with-api.ts'

export function register(token: Command, io: CommandIo): void {
  const command = token
    .command('ls')
    .alias('list')
    .description('list the bootstrap tokens by their ids; their secret parts are not shown')
  addOutputOption(addConnectionOptions(command)).action(
    async (flags: ConnectionFlags & { output: OutputFormat }) => {
      const tokens = await withApi(io, flags, ({ client }) => listBootstrapTokens(client))
      const columns = tokenColumns(io.clock.now())
      print(io, flags.output, { text: wide => formatTable(columns, tokens, wide), value: tokens })
    },
  )
}

function tokenColumns(now: number): Column<BootstrapTokenFacts>[] {
  return [
    { title: 'id', cell: ({ name }) => name.slice('bootstrap-token-'.length) },
    { title: 'ttl', cell: ({ expiration }) => timeLeft(expiration, now) },
    { title: 'expires', cell: ({ expiration }) => expiration || 'never' },
    {
      title: 'usages',
      cell: ({ authentication, signing }) =>
        [...(authentication ? ['authentication'] : []), ...(signing ? ['signing'] : [])].join(','),
    },
    { title: 'groups', cell: ({ groups }) => groups.join(',') },
  ]
}

function timeLeft(expiration: string, now: number): string {
  if (expiration === '') return 'forever'
  const left = Date.parse(expiration) - now
  // What cannot be read counts as expired (C-60).
  return left > 0 ? formatAge(left) : 'expired'
}
