/** docs/guides/first-hour.md: its commands are run line by line in one folder, against the `up` that it starts. */
import assert from 'node:assert/strict'
import { execFile } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { after, suite, test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { noKubectl } from './support/kubectl.ts'
import {
  executable,
  type RollcallProcess,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'

const page = readFileSync(fileURLToPath(new URL('../docs/guides/first-hour.md', import.meta.url)), 'utf8')

interface Step {
  command: string
  exit: number
  /** What it prints, with `…` for what differs. */
  output: string
}

const steps = [...page.matchAll(/^```console\n([\s\S]*?)^```$/gm)].flatMap(([, block = '']) =>
  block.split(/^\$ /m).slice(1).map(stepOf),
)

function stepOf(text: string): Step {
  const [line = '', ...output] = text.split('\n')
  const [, command = line, exit = '0'] = /^(.*?) {2}# exit (\d)$/.exec(line) ?? []
  return { command, exit: Number(exit), output: output.join('\n') }
}

const escaped = (text: string) => text.replaceAll(/[\\^$.*+?()[\]{}|]/g, String.raw`\$&`)

/** A line that is `…` alone stands for any lines, within a line it stands for anything; columns may be wider. */
function patternOf(output: string): RegExp {
  const lines = output
    .trimEnd()
    .split('\n')
    .map(line => {
      if (line === '…') return '(?:.*\n)*?'
      const parts = line.trimEnd().split(/(…| +)/)
      const written = parts.map(part => (part === '…' ? '.*' : /^ +$/.test(part) ? ' +' : escaped(part)))
      return `${written.join('')} *\n`
    })
  return new RegExp(`^${lines.join('')}$`)
}

suite('docs/guides/first-hour.md', { skip: noKubectl }, () => {
  const folder = temporaryFolder()
  const env = { ...process.env, PATH: `${dirname(executable)}:${process.env.PATH}`, KUBECONFIG: '' }
  let up: RollcallProcess | undefined
  after(async () => {
    await up?.stop()
    folder.remove()
  })

  function run(command: string): Promise<{ code: number; output: string }> {
    return new Promise(resolve => {
      execFile('sh', ['-c', command], { cwd: folder.path, env }, (error, stdout, stderr) => {
        const code = error ? Number(error.code ?? 1) : 0
        // What went wrong is shown where something else was expected.
        resolve({ code, output: code === 0 || stdout !== '' ? stdout : stderr })
      })
    })
  }

  const [first, ...rest] = steps
  test(`$ ${first?.command}`, async () => {
    assert.match(first?.command ?? '', /^rollcall up /)
    const words = first?.command.split(' ').slice(1) ?? []
    // The guide's port may be in use here; the folder is the one that the next commands are run in.
    up = startRollcall([...words, '--port', '0', '--dir', join(folder.path, '.rollcall')])
    assert.match(await up.ready, /^ready 3\/3 in /)
  })
  for (const { command, exit, output } of rest)
    test(`$ ${command}`, async () => {
      const got = await run(command)
      assert.equal(got.code, exit, got.output)
      assert.match(got.output, patternOf(output))
    })

  test('the page was read', () => assert.ok(steps.length > 15))
})
