import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { after, test } from 'node:test'

const runner = new URL('../scripts/test.mjs', import.meta.url).pathname
const folders: string[] = []
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true })
})

function runWith(files: Record<string, string>, environment: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), 'runner-'))
  folders.push(folder)
  for (const [name, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, name)), { recursive: true })
    writeFileSync(join(folder, name), text)
  }
  // NODE_TEST_CONTEXT would make the inner node:test believe it is a child of this one.
  const { NODE_TEST_CONTEXT: _, ...inherited } = process.env
  const { status, stdout } = spawnSync(process.execPath, [runner], {
    encoding: 'utf8',
    env: { ...inherited, CI: '', ...environment, ROLLCALL_TEST_ROOT: folder },
  })
  return { status, stdout, lastLine: stdout.trimEnd().split('\n').at(-1) }
}

const passing = `import { test } from 'node:test'\ntest('holds', () => {})\n`

test('a run of passing tests passes and ends with the counts', () => {
  const { status, lastLine } = runWith({ 'src/a.test.ts': passing, 'test/b.test.ts': passing })
  assert.equal(status, 0)
  assert.equal(lastLine, '2 passed, 0 failed, 0 skipped')
})

test('a run of no tests fails', () => {
  assert.equal(runWith({ 'src/a.ts': 'export {}' }).status, 1)
})

for (const folder of ['src', 'test']) {
  test(`a test file under ${folder} that runs no test fails the run`, () => {
    const { status, stdout } = runWith({
      [`${folder}/a.test.ts`]: passing,
      [`${folder}/b.test.ts`]: 'export {}',
    })
    assert.equal(status, 1)
    assert.match(stdout, /b\.test\.ts ran no test/)
  })

  test(`a failing test under ${folder} fails the run and is named`, () => {
    const text = `import { test } from 'node:test'\ntest('breaks', () => { throw new Error('no') })\n`
    const { status, stdout, lastLine } = runWith({ [`${folder}/a.test.ts`]: text })
    assert.equal(status, 1)
    assert.match(stdout, new RegExp(`FAIL ${folder}/a\\.test\\.ts: breaks`))
    assert.equal(lastLine, '0 passed, 1 failed, 0 skipped')
  })

  test(`an error thrown after a test under ${folder} ended fails the run`, () => {
    const late = `import { test } from 'node:test'
test('leaves work behind', () => { setTimeout(() => { throw new Error('late') }, 20) })
test('goes on', () => new Promise(resolve => setTimeout(resolve, 100)))\n`
    assert.equal(runWith({ [`${folder}/a.test.ts`]: late }).status, 1)
  })
}

test('a skip passes on a laptop, fails in CI, and is allowed in CI when only the assets are missing', () => {
  const skip = (why: string) =>
    `import { test } from 'node:test'\ntest('needs something', { skip: '${why}' }, () => {})\n${passing.split('\n')[1]}\n`
  assert.equal(runWith({ 'src/a.test.ts': skip('no kubectl') }).status, 0)
  assert.equal(runWith({ 'src/a.test.ts': skip('no kubectl') }, { CI: 'true' }).status, 1)
  assert.equal(runWith({ 'src/a.test.ts': skip('not run: no assets') }, { CI: 'true' }).status, 0)
})
