import type { Command } from 'commander'
import { backupDatabase, restoreDatabase } from '../apiserver/storage/sqlite-backup.ts'
import { dataDirectoryPaths, openDataDirectory } from '../cluster/data-directory.ts'
import type { CommandIo } from './command-io.ts'

/** `server backup` and `server restore`: the state database alone. The CA and its keys in pki/ are files to copy once. */
export function registerBackup(server: Command, io: CommandIo): void {
  server
    .command('backup')
    .description('Copy the state database into one file, also while the server runs. It holds Secrets.')
    .option('--dir <dir>', 'where everything is kept', '.rollcall')
    .requiredOption('--to <file>', 'the new file')
    .action((_flags: unknown, command: Command) => {
      // Commander gives --dir to `server`, wherever it stands.
      const { dir, to } = command.optsWithGlobals<{ dir: string; to: string }>()
      const { database, pki, ledger } = dataDirectoryPaths(dir)
      const { objects, revision } = backupDatabase(database, to)
      io.stdout(`${to}: ${objects} objects at revision ${revision}\n`)
      io.stderr(`The CA in ${pki} is not in it: keep a copy of that folder too.\n`)
      io.stderr(`Nor is ${ledger}: without it certificates are known only as long as their requests.\n`)
    })
  server
    .command('restore')
    .description('Put a backup in the place of the state database; no server may run on it.')
    .requiredOption('--from <file>', 'what `server backup` wrote')
    .option('--dir <dir>', 'where everything is kept', '.rollcall')
    .action((_flags: unknown, command: Command) => {
      const { from, dir } = command.optsWithGlobals<{ from: string; dir: string }>()
      const directory = openDataDirectory(dir)
      try {
        const { objects, revision } = restoreDatabase(from, directory.database)
        io.stdout(`${directory.database}: ${objects} objects, going on at revision ${revision}\n`)
        io.stderr(`What was there before, if anything, is kept as ${directory.database}.replaced.\n`)
      } finally {
        directory.release()
      }
    })
}
