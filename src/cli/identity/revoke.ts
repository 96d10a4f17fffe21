import type { Command } from 'commander'
import { type NodeIdentityObject, nodeIdentities } from '../../kube/rollcall/node-identity.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { withApi } from '../with-api.ts'

export function register(identity: Command, io: CommandIo): void {
  const command = identity
    .command('revoke')
    .argument('<node...>', 'names of nodes')
    .description('let a machine join no more; a certificate that it has is good until it ends')
  addConnectionOptions(command).action(async (names: string[], flags: ConnectionFlags) => {
    await withApi(io, flags, async ({ client }) => {
      for (const name of names) {
        const identity = await client.get<NodeIdentityObject>(nodeIdentities, { name })
        await client.update(nodeIdentities, { ...identity, spec: { ...identity.spec, state: 'Revoked' } })
        io.stdout(`revoked ${name}\n`)
      }
    })
  })
}
