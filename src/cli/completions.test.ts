import assert from 'node:assert/strict'
import { test } from 'node:test'
import { Command, Option } from 'commander'
import { completions } from './completions.ts'

function sample(): Command {
  const program = new Command('rollcall')
  const csr = program.command('csr').description('requests')
  csr
    .command('ls')
    .option('--signer <name>', 'only this')
    .addOption(new Option('-o, --output <format>').choices(['table', 'json']))
  csr.command('deny')
  program.command('status')
  program.command('secret', { hidden: true })
  return program
}

const words = (...typed: string[]) => completions(sample(), typed).map(({ word }) => word)

test('a command is completed by what begins so, hidden ones are not shown', () => {
  assert.deepEqual(words('s'), ['status'])
  assert.deepEqual(words('csr', ''), ['ls', 'deny', 'help'])
})

test('an option is completed only where a dash is typed', () => {
  assert.deepEqual(words('csr', 'ls', '--'), ['--signer', '--output', '--help'])
  assert.deepEqual(words('csr', 'ls', ''), [])
})

test('the value of an option is completed by its choices, and is no command', () => {
  assert.deepEqual(words('csr', 'ls', '-o', 'j'), ['json'])
  assert.deepEqual(words('csr', 'ls', '--signer', ''), [])
})

test('what the option takes is not walked into', () => {
  const program = sample()
  program.option('--kubeconfig <file>')
  assert.deepEqual(
    completions(program, ['--kubeconfig', 'csr', 'sta']).map(({ word }) => word),
    ['status'],
  )
})
