import assert from 'node:assert/strict'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { test } from 'node:test'
import { fileURLToPath } from 'node:url'
import { errorsPage, renderErrorsPage } from '../scripts/errors-page.ts'
import { runRollcall } from './support/rollcall-process.ts'

const root = fileURLToPath(new URL('..', import.meta.url))
const pages = new Map(
  globSync('{*.md,{deploy,docs,examples}/**/*.md}', { cwd: root })
    .sort()
    .map(page => [page, readFileSync(join(root, page), 'utf8')]),
)

/** What stands in a page as a match of the pattern, each with the page in front. */
function found(pattern: RegExp): { page: string; text: string }[] {
  return [...pages].flatMap(([page, content]) =>
    [...content.matchAll(pattern)].map(([, text = '']) => ({ page, text })),
  )
}

test('every relative link leads to a file, and its fragment to a heading', () => {
  const links = found(/\]\(([^)\s]+)\)/g).filter(({ text }) => !/^[a-z]+:/.test(text))
  assert.ok(links.length > 50)
  assert.deepEqual(
    links.filter(({ page, text }) => {
      const [path = '', fragment] = text.split('#')
      const target = path === '' ? join(root, page) : join(root, dirname(page), path)
      return !existsSync(target) || (fragment !== undefined && !anchorsOf(target).includes(fragment))
    }),
    [],
  )
})

/** Fragments of a page's headings, as code hosts make them. */
function anchorsOf(page: string): string[] {
  return [...readFileSync(page, 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  )
}

test('every file of src, test, scripts, bench and deploy that a page names is there', () => {
  const files = found(/`((?:src|test|scripts|bench|deploy)\/[\w./*{},-]+)`/g)
  assert.ok(files.length > 50)
  assert.deepEqual(
    files.filter(({ text }) => globSync(text, { cwd: root }).length === 0),
    [],
  )
})

test('every command and flag of rollcall that a page names is in its --help', async () => {
  const commands = [
    ...found(/`(?:bin\/|npx )?rollcall ([^`]+)`/g),
    ...found(/^(?:\$ )? *(?:bin\/|npx )?rollcall ([^\n#]+)/gm),
  ]
  assert.ok(commands.length > 30)
  const wrong = await Promise.all(
    commands.flatMap(({ page, text }) =>
      alternatives(text).map(async line => {
        const problem = await problemOf(line.trim().split(/\s+/))
        return problem === undefined ? [] : [`${page}: rollcall ${line}: ${problem}`]
      }),
    ),
  )
  assert.deepEqual(wrong.flat(), [])
})

/** `csr ls|show` stands for two commands. */
function alternatives(line: string): string[] {
  const words = /(\S+\|\S+)/.exec(line)?.[1]
  return words === undefined ? [line] : words.split('|').map(word => line.replace(words, word))
}

/** What `--help` does not know of a command line; undefined: nothing. */
async function problemOf(line: readonly string[]): Promise<string | undefined> {
  const command: string[] = []
  let help = await helpOf(command)
  for (const word of line) {
    if (!help.commands.includes(word)) break
    command.push(word)
    help = await helpOf(command)
  }
  const next = line[command.length]
  if (help.commands.length > 0 && next !== undefined && /^[a-z]/.test(next)) return `no command ${next}`
  const flags = line.flatMap(word => /^\[?(--[a-z][a-z-]*)/.exec(word)?.[1] ?? [])
  const unknown = flags.filter(flag => !help.flags.includes(flag))
  return unknown.length > 0 ? `no flag ${unknown.join(', ')}` : undefined
}

interface Help {
  commands: readonly string[]
  flags: readonly string[]
}
const helps = new Map<string, Promise<Help>>()

function helpOf(command: readonly string[]): Promise<Help> {
  const key = command.join(' ')
  const help = helps.get(key) ?? readHelp(command)
  helps.set(key, help)
  return help
}

async function readHelp(command: readonly string[]): Promise<Help> {
  const { code, stdout } = await runRollcall([...command, '--help'])
  assert.equal(code, 0)
  const commands = stdout.split('\nCommands:\n')[1] ?? ''
  return {
    commands: [...commands.matchAll(/^ {2}([a-z-]+)/gm)].map(([, name = '']) => name),
    flags: [...stdout.matchAll(/(--[a-z][a-z-]*)/g)].map(([, name = '']) => name),
  }
}

test('docs/reference/errors.md is what scripts/errors-page.ts writes', () => {
  assert.equal(
    readFileSync(errorsPage, 'utf8'),
    renderErrorsPage(),
    'run: node scripts/run24.mjs scripts/errors-page.ts',
  )
})
