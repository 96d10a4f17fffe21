import assert from 'node:assert/strict'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { processesIn } from './processes.ts'

test('a component is found by its command line, whatever else runs, and two of it are none', async t => {
  const root = mkdtempSync(join(tmpdir(), 'rollcall-proc-'))
  t.after(() => rmSync(root, { recursive: true }))
  const add = (id: number, words: string[], started: number) => {
    mkdirSync(join(root, `${id}`))
    writeFileSync(join(root, `${id}`, 'cmdline'), words.map(word => `${word}\0`).join(''))
    const fields = Array.from({ length: 30 }, (_, index) => (index === 19 ? started : 0))
    writeFileSync(join(root, `${id}`, 'stat'), `${id} (kube) api) ${fields.join(' ')}`)
  }
  add(1, ['/sbin/init'], 1)
  add(2, [], 2)
  add(77, ['kube-apiserver', '--secure-port=6443'], 4711)
  mkdirSync(join(root, '78'))
  const { running } = processesIn(root)
  assert.deepEqual(await running('kube-apiserver'), {
    instance: '77/4711',
    command: ['kube-apiserver', '--secure-port=6443'],
  })
  assert.equal(await running('kube-scheduler'), undefined)
  add(79, ['/usr/local/bin/kube-apiserver'], 4800)
  assert.equal(await running('kube-apiserver'), undefined)
})
