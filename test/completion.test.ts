import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { test } from 'node:test'

const launcher = join(import.meta.dirname, '..', 'bin', 'rollcall')

/** The three names under which npm installs the one program. */
function installed(t: { after(done: () => void): void }): NodeJS.ProcessEnv {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-bin-'))
  t.after(() => rmSync(folder, { recursive: true }))
  for (const name of ['rollcall', 'kubectl-rollcall', 'kubectl_complete-rollcall'])
    symlinkSync(launcher, join(folder, name))
  return { ...process.env, PATH: `${folder}${delimiter}${process.env.PATH}` }
}

test('bash completes commands, options and choices by the script that rollcall prints', t => {
  const complete = (line: string[]) =>
    execFileSync(
      'bash',
      [
        '-c',
        'source <(rollcall completion bash); COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _rollcall; printf "%s\\n" "$COMPREPLY"',
        'bash',
        ...line,
      ],
      { env: installed(t), encoding: 'utf8' },
    ).trim()
  assert.equal(complete(['rollcall', 'stat']), 'status')
  assert.equal(complete(['rollcall', 'token', 'r']), 'rm')
  assert.equal(complete(['rollcall', 'status', '-o', 'js']), 'json')
})

test('kubectl runs rollcall as its plugin and completes its words', t => {
  const env = installed(t)
  const kubectl = (...args: string[]) =>
    execFileSync('kubectl', args, { env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })
  assert.match(kubectl('rollcall', '--version'), /^\d+\.\d+\.\d+\n$/)
  assert.match(kubectl('__complete', 'rollcall', 'csr', 'd'), /^deny\t.*\n:4\n$/)
})
