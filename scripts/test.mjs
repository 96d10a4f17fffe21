// Runs the tests and judges the run itself: node:test alone passes on zero files and hides errors thrown after a test
// ended. Fails on: a failed test, no test at all, a test file that ran none, a late error, and with CI=true a skip
// (except those that need ROLLCALL_TEST_ASSETS). Usage: node scripts/test.mjs [FILE …]
import { spawn } from 'node:child_process'
import * as fs from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { node24 } from './node24.mjs'

const scripts = dirname(fileURLToPath(import.meta.url))
const root = process.env.ROLLCALL_TEST_ROOT ? resolve(process.env.ROLLCALL_TEST_ROOT) : dirname(scripts)

// globSync needs Node 22, so the whole script runs on 24.
if (Number(process.versions.node.split('.')[0]) < 24) {
  const child = spawn(node24(), process.argv.slice(1), { stdio: 'inherit' })
  child.on('exit', code => process.exit(code ?? 1))
} else {
  await main()
}

async function main() {
  const asked = process.argv.slice(2).map(file => resolve(file))
  const pick = pattern =>
    fs
      .globSync(pattern, { cwd: root })
      .map(file => join(root, file))
      .filter(file => asked.length === 0 || asked.includes(file))
      .sort()
  const unit = pick('src/**/*.test.ts')
  const whole = pick('test/**/*.test.ts')
  const started = performance.now()
  const results = []
  // Unit tests share one process (60 files: 0.25 s instead of 7.5 s); the others get one each, two at a time.
  if (unit.length > 0) results.push(await runGroup(unit, ['--test-isolation=none']))
  if (whole.length > 0)
    results.push(await runGroup(whole, ['--test-isolation=process', '--test-concurrency=2']))
  const problems = results.flatMap(result => result.problems)
  const sum = key => results.reduce((total, result) => total + result[key], 0)
  if (sum('passed') + sum('failed') === 0) problems.push('no test was run')
  for (const problem of problems) console.log(`PROBLEM ${problem}`)
  console.log(
    `${unit.length + whole.length} test files in ${((performance.now() - started) / 1000).toFixed(1)} s`,
  )
  console.log(`${sum('passed')} passed, ${sum('failed') + problems.length} failed, ${sum('skipped')} skipped`)
  process.exit(problems.length === 0 && sum('failed') === 0 ? 0 : 1)
}

function runGroup(files, options) {
  const result = { passed: 0, failed: 0, skipped: 0, problems: [] }
  const seen = new Set()
  const reporter = join(scripts, 'test-reporter.mjs')
  const child = spawn(
    process.execPath,
    [
      '--test',
      '--disable-warning=ExperimentalWarning',
      `--test-reporter=${reporter}`,
      '--test-reporter-destination=stdout',
      ...options,
      ...files,
    ],
    { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] },
  )
  const lines = createInterface({ input: child.stdout })
  lines.on('line', line => take(line, result, seen))
  return new Promise(done => {
    lines.on('close', () => finish())
    child.on('exit', code => {
      result.exit = code
      finish()
    })
    let waiting = 2
    function finish() {
      waiting -= 1
      if (waiting > 0) return
      for (const file of files)
        if (!seen.has(file)) result.problems.push(`${relative(root, file)} ran no test`)
      if (result.exit !== 0 && result.failed === 0)
        result.problems.push(`the test process ended with ${result.exit} although no test failed`)
      done(result)
    }
  })
}

function take(line, result, seen) {
  let event
  try {
    event = JSON.parse(line)
  } catch {
    console.log(line) // something the tests themselves printed
    return
  }
  const where = event.file ? relative(root, event.file) : ''
  if (event.type === 'test:diagnostic') {
    if (/asynchronous activity after the test ended/.test(event.message ?? ''))
      result.problems.push(`${where}: ${event.message}`)
    return
  }
  if (event.type === 'test:stdout' || event.type === 'test:stderr')
    return process.stdout.write(event.message ?? '')
  if (event.suite && event.failureType === 'subtestsFailed') return
  // With one process a file, node reports the file itself as a test; it is not one.
  const isFile = event.name === event.file || event.name === relative(process.cwd(), event.file ?? '')
  if (isFile && event.type === 'test:pass') return
  if (event.suite && event.type === 'test:pass') return
  if (event.file) seen.add(event.file)
  if (event.skip !== undefined || event.todo !== undefined) return skipped(event, where, result)
  if (event.type === 'test:pass') {
    result.passed += 1
    return
  }
  result.failed += 1
  console.log(`FAIL ${where}: ${event.name}\n${String(event.error ?? '').replace(/^/gm, '     ')}`)
}

/** CI must not pass by leaving tests out; only what needs ROLLCALL_TEST_ASSETS may be, and it says so. */
function skipped(event, where, result) {
  result.skipped += 1
  const why = typeof event.skip === 'string' ? event.skip : 'no reason given'
  console.log(`SKIP ${where}: ${event.name} (${why})`)
  if (process.env.CI === 'true' && !why.startsWith('not run: no assets')) {
    result.problems.push(`${where}: "${event.name}" cannot run here (${why}), and with CI=true it must`)
  }
}
