import type { Command } from 'commander'
import { readPolicies } from '../../approve/policy-document.ts'
import type { CommandIo } from '../command-io.ts'
import { printable } from '../printable.ts'
import { readText } from './read-files.ts'

export function register(policy: Command, io: CommandIo): void {
  policy
    .command('validate')
    .requiredOption('-f, --file <file...>', 'files of CertificatePolicies')
    .description('check policy files without a cluster; every problem with its line and column (exit 3)')
    .action(async ({ file }: { file: string[] }) => {
      for (const path of file) {
        const { policies, problems } = readPolicies(await readText(path))
        for (const { line, column, text } of problems)
          io.stdout(`${printable(`${path}:${line}:${column}: ${text}`)}\n`)
        if (problems.length > 0) io.exitWith(3)
        else io.stdout(`${printable(path)}: ${policies.map(({ name }) => name).join(', ')} can be used\n`)
      }
    })
}
