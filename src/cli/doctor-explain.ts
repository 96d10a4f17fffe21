import type { Command } from 'commander'
import { allChecks } from '../doctor/all-checks.ts'
import { checkPage, plainText } from '../doctor/check-page.ts'
import { checksTold } from '../doctor/log-lines.ts'
import { RollcallError } from '../errors.ts'
import type { CommandIo } from './command-io.ts'
import { alignColumns } from './table.ts'

export function registerExplain(doctor: Command, io: CommandIo): void {
  doctor
    .command('explain')
    .argument('[id]', 'e.g. C04, or a line of a log; without one all ids are listed')
    .description('say what a diagnosis means, or which ones a line of a log may be a symptom of')
    .action((id: string | undefined) => io.stdout(id === undefined ? list() : explain(id)))
}

const list = () =>
  alignColumns(allChecks.map(({ meta: { id, severity, failureTitle } }) => [id, severity, failureTitle]))

function explain(text: string): string {
  const check = allChecks.find(({ meta }) => meta.id === text.toUpperCase())
  if (check) return `${checkPage(check, allChecks, plainText)}\n`
  const told = checksTold(text)
  if (told.length === 0)
    throw new RollcallError(
      'USAGE',
      `no diagnosis is or says ${JSON.stringify(text)}; see rollcall doctor explain`,
    )
  return told.map(({ meta }) => `${meta.id}  ${meta.failureTitle}\n`).join('')
}
