import assert from 'node:assert/strict'
import { appendFileSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type TestContext, test } from 'node:test'
import fc from 'fast-check'
import { systemDisk } from '../../host/disk.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { type LogOptions, readLog } from './read-log.ts'

function logFile(t: TestContext, text: string) {
  const folder = mkdtempSync(join(tmpdir(), 'rollcall-log-'))
  t.after(() => rmSync(folder, { recursive: true }))
  const path = join(folder, '0.log')
  writeFileSync(path, text)
  const state = { ended: true }
  const clock = createManualClock(0)
  const chunks = (
    options: Partial<LogOptions>,
    format: 'raw' | 'cri' = 'raw',
    signal = new AbortController().signal,
  ) =>
    readLog(
      { path, format, ended: () => state.ended },
      { follow: false, timestamps: false, ...options },
      { disk: systemDisk, clock, signal },
    )
  const read = async (options: Partial<LogOptions>, format: 'raw' | 'cri' = 'raw') => {
    const parts: Uint8Array[] = []
    for await (const chunk of chunks(options, format)) parts.push(chunk)
    return Buffer.concat(parts).toString()
  }
  return { path, state, clock, chunks, read }
}

test('the whole log, its last lines, its first bytes', async t => {
  const { read } = logFile(t, 'one\ntwo\nthree\n')
  assert.equal(await read({}), 'one\ntwo\nthree\n')
  assert.equal(await read({ tailLines: 2 }), 'two\nthree\n')
  assert.equal(await read({ tailLines: 0 }), '')
  assert.equal(await read({ tailLines: 9 }), 'one\ntwo\nthree\n')
  assert.equal(await read({ limitBytes: 5 }), 'one\nt')
})

test('the last lines are those that splitting the text gives, also of large logs', async t => {
  const lines = Array.from({ length: 9000 }, (_, index) => `line ${index} ${'x'.repeat(index % 60)}`)
  for (const end of ['\n', '']) {
    const { read } = logFile(t, lines.join('\n') + end)
    await fc.assert(
      fc.asyncProperty(fc.nat(10_000), async tailLines => {
        const expected = tailLines === 0 ? '' : lines.slice(-tailLines).join('\n') + end
        assert.equal(await read({ tailLines }), expected)
      }),
      { numRuns: 15 },
    )
  }
})

test('what is written while the last lines are read is no part of them', async t => {
  const { path, chunks } = logFile(t, `one\n${'x'.repeat(100_000)}\n`)
  let text = ''
  for await (const chunk of chunks({ tailLines: 1 })) {
    appendFileSync(path, 'more\n')
    text += Buffer.from(chunk)
  }
  assert.equal(text, `${'x'.repeat(100_000)}\n`)
})

test('a log that is not there yet is empty', async t => {
  const { path, read } = logFile(t, '')
  rmSync(path)
  assert.equal(await read({ tailLines: 5 }), '')
})

test('following gives what comes until the container ends, over a rotation too', async t => {
  const { path, state, clock, chunks } = logFile(t, 'one\n')
  state.ended = false
  let text = ''
  let over = false
  void (async () => {
    for await (const chunk of chunks({ follow: true })) text += Buffer.from(chunk)
    over = true
  })()
  // The disk is real and may take its time: only a minute of nothing is a failure.
  const until = async (holds: () => boolean) => {
    for (const end = performance.now() + 60_000; !holds() && performance.now() < end; ) {
      await clock.advance(250)
      await settle()
    }
  }
  const reads = async (wanted: string) => {
    await until(() => text === wanted)
    assert.equal(text, wanted)
  }
  await reads('one\n')
  appendFileSync(path, 'two\n')
  await reads('one\ntwo\n')
  appendFileSync(path, 'three\n')
  renameSync(path, `${path}.1`)
  writeFileSync(path, 'four\n')
  await reads('one\ntwo\nthree\nfour\n')
  appendFileSync(path, 'last')
  state.ended = true
  await reads('one\ntwo\nthree\nfour\nlast')
  await until(() => over)
  assert.ok(over)
  assert.equal(clock.pending(), 0)
})

test('who leaves ends the following', async t => {
  const { state, clock, chunks } = logFile(t, 'one\n')
  state.ended = false
  const left = new AbortController()
  const reading = (async () => {
    for await (const _ of chunks({ follow: true }, 'raw', left.signal)) left.abort()
  })()
  await reading
  assert.equal(clock.pending(), 0)
})

test('lines of a container runtime lose their head, keep their parts together, and have times', async t => {
  const { read } = logFile(
    t,
    '2026-01-01T00:00:00.5Z stdout F one\n2026-01-01T00:00:01Z stderr P tw\n2026-01-01T00:00:01Z stderr F o\n2026-01-01T00:00:02Z stdout F \n',
  )
  assert.equal(await read({}, 'cri'), 'one\ntwo\n\n')
  assert.equal(
    await read({ timestamps: true }, 'cri'),
    '2026-01-01T00:00:00.5Z one\n2026-01-01T00:00:01Z two\n2026-01-01T00:00:02Z \n',
  )
  assert.equal(await read({ since: Date.parse('2026-01-01T00:00:01Z') }, 'cri'), 'two\n\n')
  assert.equal(await read({ tailLines: 1 }, 'cri'), '\n')
})

test('of a log without times nothing is shown that was written before', async t => {
  const { read } = logFile(t, 'one\n')
  assert.equal(await read({ since: Date.now() - 60_000 }), 'one\n')
  assert.equal(await read({ since: Date.now() + 60_000 }), '')
})
