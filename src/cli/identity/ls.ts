import type { Command } from 'commander'
import { listAll } from '../../kube/client.ts'
import { type NodeIdentityObject, nodeIdentities } from '../../kube/rollcall/node-identity.ts'
import { formatAge } from '../../kube/time-format.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { type Column, formatTable } from '../table.ts'
import { withApi } from '../with-api.ts'

export function register(identity: Command, io: CommandIo): void {
  const command = identity
    .command('ls')
    .alias('list')
    .description('list the machines, those that wait for a person first')
  addOutputOption(addConnectionOptions(command)).action(
    async (flags: ConnectionFlags & { output: OutputFormat }) => {
      const { items } = await withApi(io, flags, ({ client }) =>
        listAll<NodeIdentityObject>(client, nodeIdentities),
      )
      const waiting = ({ spec }: NodeIdentityObject) => (spec.state === 'Pending' ? 0 : 1)
      const shown = items.toSorted(
        (a, b) => waiting(a) - waiting(b) || (a.metadata.name < b.metadata.name ? -1 : 1),
      )
      const columns = columnsAt(io.clock.now())
      print(io, flags.output, { text: wide => formatTable(columns, shown, wide), value: shown })
    },
  )
}

function columnsAt(now: number): Column<NodeIdentityObject>[] {
  const since = (time: string | undefined) => (time ? formatAge(now - Date.parse(time)) : 'never')
  return [
    { title: 'node', cell: ({ metadata }) => metadata.name },
    { title: 'state', cell: ({ spec }) => spec.state },
    { title: 'type', cell: ({ spec }) => spec.key.type },
    // In whole: it is what a person compares.
    { title: 'key', cell: ({ spec }) => spec.key.sha256 },
    { title: 'proven', cell: ({ status }) => since(status?.lastProven) },
    { title: 'from', cell: ({ status }) => status?.firstAddress ?? '' },
  ]
}
