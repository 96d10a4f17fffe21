import assert from 'node:assert/strict'
import { test } from 'node:test'
import { systemDisk } from '../../host/disk.ts'
import { pageFiles } from './page-files.ts'
import { importsOf, rewriteImports, vendorModules } from './rewrite-imports.ts'

const files = pageFiles(systemDisk)
const textOf = async (path: string) => new TextDecoder().decode((await files(path))?.content)

test('bare imports become paths of ours, those of files get the ending that is served', () => {
  assert.equal(
    rewriteImports(`import { h } from 'preact'\nexport{a}from"./b.ts";import"../c.ts"`),
    `import { h } from '/dashboard/vendor/preact.js'\nexport{a}from"./b.js";import"../c.js"`,
  )
  assert.throws(() => rewriteImports(`import x from 'left-pad'`), RangeError)
})

test('everything that the page and its libraries import is served as script', async () => {
  const queue = ['app/main.js']
  const seen = new Set(queue)
  for (const path of queue) {
    const file = await files(path)
    assert.ok(file, path)
    assert.equal(file.contentType, 'text/javascript; charset=utf-8')
    for (const target of importsOf(new TextDecoder().decode(file.content))) {
      const found = new URL(target, `http://x/dashboard/${path}`).pathname.replace('/dashboard/', '')
      if (!seen.has(found)) queue.push(found)
      seen.add(found)
    }
  }
  assert.ok(queue.length > 20)
  const page = await textOf('')
  for (const path of seen)
    assert.ok(page.includes(`<link rel="modulepreload" href="/dashboard/${path}">`), path)
  for (const vendor of Object.values(vendorModules)) assert.ok(seen.has(`vendor/${vendor}`), vendor)
})

test('the page has nothing inline, and names no other origin', async () => {
  const page = await textOf('')
  assert.doesNotMatch(page, /<script(?![^>]* src=)|<style|\sstyle=|\son\w+=|https?:\/\//)
})

test('no path leads out of the page', async () => {
  for (const path of [
    'app/../main.js',
    'app/%2e%2e/package.js',
    'app/..%2fpackage.js',
    '../package.json',
    'app/tsconfig.json',
    'vendor/undici.js',
    'vendor/__proto__',
    'constructor',
    'index.html',
  ])
    assert.equal(await files(path), undefined, path)
})
