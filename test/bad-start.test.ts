import assert from 'node:assert/strict'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import {
  type RollcallProcess,
  runRollcall,
  startRollcall,
  temporaryFolder,
} from './support/rollcall-process.ts'

// What a user may get wrong before anything runs: one sentence that says what, and 2 for the command line, 1 otherwise.

const folder = temporaryFolder()
const path = (name: string) => join(folder.path, name)
let server: RollcallProcess
let port: string

before(async () => {
  server = startRollcall(['server', '--dir', path('held'), '--port', '0'])
  port = (await server.ready).split(':').at(-1) ?? ''
})
after(async () => {
  await server?.stop()
  folder.remove()
})

/** What the program says of itself, without its log, when it ends with `code`; never a stack trace. */
async function refusal(code: number, args: string[]): Promise<string> {
  const result = await runRollcall(args, { HOME: folder.path, KUBECONFIG: '' })
  const said = result.stderr.replace(/^\{"time".*\n/gm, '')
  assert.equal(result.code, code, `rollcall ${args.join(' ')}: ${said}`)
  assert.equal(result.stdout, '')
  assert.doesNotMatch(said, /^\s+at /m)
  return said.replace('(rollcall --help, or rollcall COMMAND --help, shows what there is)\n', '').trimEnd()
}

describe('a command line that cannot be understood ends with 2', { concurrency: 2 }, () => {
  const whole = 'It must be a whole number from'
  const cases: [string, string | RegExp][] = [
    ['up --nodes 0', `error: option '--nodes <n>' argument '0' is invalid. ${whole} 1 to 60000.`],
    ['up --nodes nine', `error: option '--nodes <n>' argument 'nine' is invalid. ${whole} 1 to 60000.`],
    ['up --port 65536', `error: option '--port <port>' argument '65536' is invalid. ${whole} 0 to 65535.`],
    [
      'up --cert-lifetime 5m',
      'rollcall: --cert-lifetime: 5m is shorter than the 10m that Kubernetes allows at least.',
    ],
    [
      'up --cert-lifetime soon',
      'rollcall: --cert-lifetime: "soon" is no duration; write it like 24h, 90m or 1h30m.',
    ],
    ['up and away', "error: too many arguments for 'up'. Expected 0 arguments but got 2: and, away."],
    ['up --dir', "error: option '--dir <dir>' argument missing"],
    [
      'server --bind example.com',
      "error: option '--bind <address>' argument 'example.com' is invalid. It must be an IP address.",
    ],
    ['key show no\u001b[31mred', 'rollcall: the key file no\\u{1b}[31mred cannot be read (ENOENT).'],
    ['server --gently', "error: unknown option '--gently'"],
    ['uup', "error: unknown command 'uup'\n(Did you mean up?)"],
    ['csr approove x', "error: unknown command 'approove'\n(Did you mean approve?)"],
    [
      'status -o xml',
      /^error: option '-o, --output <format>' argument 'xml' is invalid\. Allowed choices are table, /,
    ],
  ]
  for (const [line, expected] of cases) {
    test(`rollcall ${line}`, async () => {
      const said = await refusal(2, line.split(' '))
      if (typeof expected === 'string') assert.equal(said, expected)
      else assert.match(said, expected)
    })
  }

  test('rollcall alone shows what there is', async () => {
    assert.match(
      await refusal(2, []),
      /^Usage: rollcall \[options\] \[command\]\n[\s\S]*^ {2}up \[options\]/m,
    )
  })
})

describe('a kubeconfig that is missing or garbage ends with 2', { concurrency: 2 }, () => {
  const kubeconfig = (name: string, text: string) => {
    writeFileSync(path(name), text)
    return path(name)
  }
  const cases: [string, () => string, string | RegExp][] = [
    ['missing', () => path('nowhere'), 'does not exist; give another --kubeconfig'],
    ['a folder', () => folder.path, 'cannot be read: EISDIR'],
    ['empty', () => kubeconfig('empty', ''), 'the file is not a mapping'],
    ['not YAML', () => kubeconfig('brackets', 'clusters: ['), /line \d+ is not valid YAML$/],
    ['random bytes', () => kubeconfig('bytes', '\u0000\u0001\ufffdPNG'), /is not (valid YAML|a mapping)$/],
    ['without a context', () => kubeconfig('plain', 'kind: Config\napiVersion: v1\n'), /context/],
  ]
  for (const [what, file, expected] of cases) {
    test(`the kubeconfig is ${what}`, async () => {
      const name = file()
      const said = await refusal(2, ['status', '--kubeconfig', name])
      assert.ok(said.startsWith(`rollcall: ${name}`), said)
      if (typeof expected === 'string') assert.ok(said.endsWith(expected), said)
      else assert.match(said, expected)
      assert.equal(said.split('\n').length, 1, said)
    })
  }

  test('no kubeconfig anywhere', async () => {
    assert.match(await refusal(2, ['status']), /^rollcall: no kubeconfig, .*give --kubeconfig$/)
  })

  test('a kubeconfig of an API that does not answer ends with 1', async () => {
    const text =
      'clusters: [{name: c, cluster: {server: "https://127.0.0.1:1"}}]\ncontexts: [{name: x, context: {cluster: c, user: u}}]\nusers: [{name: u, user: {}}]\ncurrent-context: x\n'
    const said = await refusal(1, ['status', '--kubeconfig', kubeconfig('silent', text)])
    assert.match(said, /^rollcall: .*127\.0\.0\.1:1.*$/)
    assert.equal(said.split('\n').length, 1, said)
  })
})

describe('a place that cannot be used ends with 1', { concurrency: 2 }, () => {
  const start = (dir: string, ...more: string[]) => ['server', '--dir', dir, '--port', '0', ...more]

  test('a second process on the same --dir, and the first goes on', async () => {
    const said = `rollcall: Another rollcall process holds ${path('held')}; stop it or give another --dir.`
    assert.equal(await refusal(1, start(path('held'))), said)
    assert.equal(await refusal(1, ['up', '--dir', path('held'), '--port', '0']), said)
    assert.equal(server.child.exitCode, null)
  })

  test('a port that is in use, or an address that is not here', async () => {
    const elsewhere = ['server', '--dir', path('elsewhere')]
    assert.equal(
      await refusal(1, [...elsewhere, '--port', port]),
      `rollcall: 127.0.0.1:${port} cannot be listened on (EADDRINUSE); give another --port`,
    )
    assert.equal(
      await refusal(1, [...elsewhere, '--port', '0', '--bind', '192.0.2.1']),
      'rollcall: 192.0.2.1:0 cannot be listened on (EADDRNOTAVAIL); this machine has no such address',
    )
    // What failed to start holds nothing: the same folder works with another port.
    const later = startRollcall([...elsewhere, '--port', '0'])
    assert.match(await later.ready, /^ready https:/)
    assert.equal(await later.stop(), 0)
  })

  test('a file in place of --dir', async () => {
    writeFileSync(path('file'), '')
    assert.equal(
      await refusal(1, start(path('file'))),
      `rollcall: Cannot use the data directory ${path('file')}: it, or a folder above it, is a file. Give a writable one with --dir.`,
    )
    assert.equal(
      await refusal(1, start(path('file/below'))),
      `rollcall: Cannot use the data directory ${path('file/below')}: it, or a folder above it, is a file. Give a writable one with --dir.`,
    )
  })

  test('a CA that is garbage, or whose key is another', async () => {
    mkdirSync(path('strange/pki'), { recursive: true })
    for (const name of ['ca.crt', 'ca.key']) writeFileSync(path(`strange/pki/${name}`), 'garbage')
    const said = await refusal(1, start(path('strange')))
    assert.match(said, /^rollcall: .*strange\/pki\/ca\.(crt|key)/)
    assert.equal(said.split('\n').length, 1, said)
  })

  test('a state.db that is no database', async () => {
    mkdirSync(path('ruined'))
    writeFileSync(path('ruined/state.db'), 'x'.repeat(8192))
    const said = await refusal(1, start(path('ruined')))
    assert.match(said, /^rollcall: .*ruined\/state\.db: .*(not a database|damaged)/)
    assert.equal(said.split('\n').length, 1, said)
  })
})
