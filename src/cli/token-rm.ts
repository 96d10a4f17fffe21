import type { Command } from 'commander'
import { RollcallError } from '../errors.ts'
import { isStatus } from '../kube/client.ts'
import { resources } from '../kube/types.ts'
import { bootstrapTokenSecretName } from '../trust/bootstrap-token.ts'
import type { CommandIo, ConnectionFlags } from './command-io.ts'
import { addConnectionOptions } from './connect-kubeconfig.ts'
import { withApi } from './with-api.ts'

export function register(token: Command, io: CommandIo): void {
  const command = token
    .command('rm')
    .alias('delete')
    .argument('<id...>', 'ids of tokens, or whole tokens')
    .description('remove bootstrap tokens; nodes that joined with them are not touched')
  addConnectionOptions(command).action(async (given: string[], flags: ConnectionFlags) => {
    const ids = given.map(idOf)
    await withApi(io, flags, async ({ client }) => {
      for (const id of ids) {
        try {
          await client.delete(resources.secrets, {
            name: bootstrapTokenSecretName(id),
            namespace: 'kube-system',
          })
        } catch (error) {
          if (isStatus(error, 'NotFound'))
            throw new RollcallError('API_STATUS', `there is no token ${id}; see rollcall token ls`)
          throw error
        }
        io.stdout(`removed token ${id}\n`)
      }
    })
  })
}

/** The id in `ID` or `ID.SECRET`. Throws USAGE, without showing what may be a secret. */
function idOf(text: string): string {
  const id = /^([a-z0-9]{6})(\.[a-z0-9]{16})?$/.exec(text)?.[1]
  if (id === undefined)
    throw new RollcallError(
      'USAGE',
      'a token is named by its id, six lower-case letters or digits, or in whole as ID.SECRET',
    )
  return id
}
