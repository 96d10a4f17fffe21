import assert from 'node:assert/strict'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { test } from 'node:test'
import { hasCode } from '../../errors.ts'
import { readInventoryFile, readNodes, readRequests } from './read-files.ts'

/** The sentence with which the file is refused. */
async function refusal(read: (path: string) => Promise<unknown>, text: string): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'read-files-'))
  const path = join(folder, 'file')
  writeFileSync(path, text)
  try {
    await read(path)
    return 'not refused'
  } catch (error) {
    const told = hasCode(error, 'USAGE') || hasCode(error, 'INVENTORY_INVALID')
    return told ? error.message.replaceAll(path, 'FILE') : `unexpected: ${error}`
  } finally {
    rmSync(folder, { recursive: true })
  }
}

const request = 'kind: CertificateSigningRequest\nmetadata: {name: a}\n'
const cases: [what: string, read: (path: string) => Promise<unknown>, text: string, told: RegExp][] = [
  ['no YAML, told without its text', readRequests, 'a: [\u001b[31m', /^FILE is no YAML: line 1: [ -~]+$/],
  ['an alias', readRequests, 'a: &a 1\nb: *a\n', /^FILE is no YAML: [ -~]+$/],
  ['an inventory with an alias', readInventoryFile, 'a: &a 1\nb: *a\n', /^FILE is no YAML: [ -~]+$/],
  ['a request without spec', readRequests, request, /^FILE holds a CertificateSigningRequest without spec\./],
  [
    'a request without usages',
    readRequests,
    `${request}spec: {request: eA==, signerName: a}\n`,
    /spec\.usages/,
  ],
  [
    'a request of numbers',
    readRequests,
    `${request}spec: {request: 1, signerName: a, usages: []}`,
    /spec\.request/,
  ],
  [
    'a Node without a name',
    readNodes,
    'kind: Node\nmetadata: {}\n',
    /^FILE holds a Node without metadata\.name/,
  ],
  [
    'a Node whose addresses are none',
    readNodes,
    'kind: Node\nmetadata: {name: a}\nstatus: {addresses: x}',
    /addresses/,
  ],
]
for (const [what, read, text, told] of cases) {
  test(`refused in one sentence: ${what}`, async () => {
    assert.match(await refusal(read, text), told)
  })
}
