/** What a ceremony signed, into the cluster. */
import type { Command } from 'commander'
import { isStatus } from '../../kube/client.ts'
import { trustBundle } from '../../kube/rollcall/trust-bundle.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { printable } from '../printable.ts'
import { withApi } from '../with-api.ts'
import { readBundles } from './ceremony.ts'

export function register(trust: Command, io: CommandIo): void {
  const publish = trust
    .command('publish')
    .argument('<file>', 'what `rollcall trust ceremony` wrote')
    .description('give signed bundles to the cluster; a rotation that waits for them goes on')
  addConnectionOptions(publish).action(async (path: string, flags: ConnectionFlags) => {
    const bundles = await readBundles(path)
    await withApi(io, flags, async ({ client }) => {
      for (const bundle of bundles) {
        try {
          await client.create(trustBundle.ref, bundle)
          io.stdout(`${printable(bundle.metadata.name)} is there\n`)
        } catch (error) {
          if (!isStatus(error, 'AlreadyExists')) throw error
          io.stdout(`${printable(bundle.metadata.name)} was there already, and stays as it is\n`)
        }
      }
    })
  })
}
