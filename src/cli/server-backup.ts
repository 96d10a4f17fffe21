import type { Command } from 'commander'
import { backUp } from '../cluster/backup.ts'
import { dataDirectoryPaths, openDataDirectory } from '../cluster/data-directory.ts'
import { restore } from '../cluster/restore.ts'
import type { CommandIo } from './command-io.ts'

/** `server backup` and `server restore`. */
export function registerBackup(server: Command, io: CommandIo): void {
  server
    .command('backup')
    .description(
      'Copy state, ledger, decision log and certificates into a new folder, also while the server runs. It holds Secrets.',
    )
    .option('--dir <dir>', 'where everything is kept', '.rollcall')
    .requiredOption('--to <folder>', 'the new folder')
    .option(
      '--with-keys',
      "the private keys too, the CA's among them: who has the backup can then issue anything",
    )
    .action((_flags: unknown, command: Command) => {
      // Commander gives --dir to `server`, wherever it stands.
      const { dir, to, withKeys } = command.optsWithGlobals<{ dir: string; to: string; withKeys?: true }>()
      const { state, leaves, decisionLogs, keys } = backUp(dataDirectoryPaths(dir), to, {
        withKeys: withKeys === true,
      })
      io.stdout(
        `${to}: ${state.objects} objects at revision ${state.revision}, ${leaves ?? 'no'} certificates in the ledger, ` +
          `${decisionLogs} files of the decision log, ${keys.copied} private keys\n`,
      )
      if (keys.leftOut > 0)
        io.stderr(
          `${keys.leftOut} private keys of ${dir} are not in it: keep a copy of them elsewhere, or give --with-keys.\n`,
        )
    })
  server
    .command('restore')
    .description('Put a backup in the place of what is there; no server may run on it.')
    .requiredOption('--from <folder>', 'what `server backup` wrote')
    .option('--dir <dir>', 'where everything is kept', '.rollcall')
    .action((_flags: unknown, command: Command) => {
      const { from, dir } = command.optsWithGlobals<{ from: string; dir: string }>()
      const directory = openDataDirectory(dir)
      try {
        const { state, leaves, files, hasCaKey } = restore(from, directory)
        io.stdout(
          `${directory.root}: ${state.objects} objects, going on at revision ${state.revision}; ` +
            `${leaves ?? 'no'} certificates in the ledger, ${files} files of pki/ and ca/\n`,
        )
        io.stderr('Databases and logs that were there before, if any, are kept as ….replaced.\n')
        if (!hasCaKey)
          io.stderr(
            `There is no ${directory.pki}/ca.key: put your copy there, or give --signing-key, before you start the server.\n`,
          )
      } finally {
        directory.release()
      }
    })
}
