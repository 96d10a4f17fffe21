import assert from 'node:assert/strict'
import { test } from 'node:test'
import { absent } from './case.ts'
import { mismatches } from './match.ts'
import { comparable } from './sequences/comparable.ts'
import { differencesOf } from './sequences/differences.ts'
import { listsAgree } from './sequences/invariants/lists-agree.ts'
import { readsTellWrites } from './sequences/invariants/reads-tell-writes.ts'
import { watchTellsAll } from './sequences/invariants/watch-tells-all.ts'
import { wellFormed } from './sequences/invariants/well-formed.ts'
import type { Played } from './sequences/play.ts'

// Servers that misbehave, each in one thing: what finds nothing in them would find nothing at all.

const collection = '/api/v1/namespaces/n/configmaps'
const map = (version: string, data: object = {}, more: object = {}) => ({
  kind: 'ConfigMap',
  apiVersion: 'v1',
  metadata: { name: 'a', uid: 'u', resourceVersion: version, ...more },
  data,
})
const played = (method: string, url: string, status: number, body: unknown, sent?: object): Played => ({
  step: { method, url, ...(sent && { body: JSON.stringify(sent) }) },
  answer: { status, headers: { 'content-type': 'application/json' }, body },
})
const made = played('POST', collection, 201, map('5', { a: '1' }))
const one = `${collection}/a`

test('a read that does not tell what was written is noticed, and so is what a dry run left or a deletion did not take', () => {
  const read = (body: unknown, status = 200) => played('GET', one, status, body)
  assert.deepEqual(readsTellWrites([made, read(map('5', { a: '1' }))]), [])
  assert.match(readsTellWrites([made, read(map('5', { a: '2' }))]).join(), /^step 1: read /)
  const dry = played('PUT', `${one}?dryRun=All`, 200, map('5', { a: '2' }))
  assert.match(readsTellWrites([made, dry, read(map('5', { a: '2' }))]).join(), /^step 2: read /)
  const gone = played('DELETE', one, 200, { kind: 'Status' })
  assert.match(readsTellWrites([made, gone, read(map('5', { a: '1' }))]).join(), /what was deleted is there/)
})

test('a write over a version that it does not name is noticed, and so are a second creation and a wrong precondition', () => {
  const stale = played('PUT', one, 200, map('6'), { metadata: { name: 'a', resourceVersion: '4' } })
  assert.match(readsTellWrites([made, stale]).join(), /written with version 4 over 5/)
  assert.match(readsTellWrites([made, made]).join(), /created where something is/)
  const other = played('PUT', one, 200, map('6', {}, { uid: 'v' }))
  assert.match(readsTellWrites([made, other]).join(), /an update changed metadata.uid/)
  const wrong = played('DELETE', one, 200, { kind: 'Status' }, { preconditions: { uid: 'x' } })
  assert.match(readsTellWrites([made, wrong]).join(), /deleted although uid was not x/)
})

test('a refusal that is no Status of its own code is noticed', () => {
  const status = {
    kind: 'Status',
    apiVersion: 'v1',
    status: 'Failure',
    message: 'm',
    reason: 'NotFound',
    code: 404,
  }
  assert.deepEqual(wellFormed(played('GET', one, 404, status)), [])
  assert.match(
    wellFormed(played('GET', one, 404, { ...status, code: 400 })).join(),
    /code 400 in an answer 404/,
  )
  assert.match(wellFormed(played('GET', one, 409, { ...status, code: 409 })).join(), /reason NotFound/)
  assert.match(wellFormed(played('GET', one, 503, status)).join(), /status 503/)
})

test('pages that do not join to the list are noticed', () => {
  const list = (...names: string[]) => ({ items: names.map(name => ({ metadata: { name } })) })
  const looks = (page: object): Played[] => [
    played('GET', collection, 200, list('a', 'b', 'c')),
    played('GET', collection, 200, {
      rows: ['a', 'b', 'c'].map(name => ({ object: { metadata: { name } } })),
    }),
    played('GET', collection, 200, list('a', 'b', 'c')),
    played('GET', `${collection}?limit=2`, 200, list('a', 'b')),
    {
      ...played('GET', `${collection}?limit=2&continue=x`, 200, page),
      step: { method: 'GET', url: '', needs: 'next3' },
    },
    { step: { method: 'GET', url: '', needs: 'next4' } },
    { step: { method: 'GET', url: '', needs: 'next5' } },
  ]
  assert.deepEqual(listsAgree(looks(list('c'))), [])
  assert.match(listsAgree(looks(list('b', 'c'))).join(), /pages a,b,b,c for a,b,c/)
})

test('a watch that leaves a change out is noticed', () => {
  const watch = (...events: [type: string, version: string][]): Played => ({
    step: { method: 'GET', url: `${collection}?watch=true`, until: 'a' },
    answer: {
      status: 200,
      headers: {},
      body: undefined,
      events: events.map(([type, version]) => ({ type, object: map(version) })),
    },
  })
  const { kind: _kind, apiVersion: _version, ...item } = map('6')
  const lists = (...seen: Played[]) => [
    played('GET', collection, 200, { items: [] }),
    ...seen,
    played('GET', collection, 200, { items: [item] }),
  ]
  assert.deepEqual(watchTellsAll(lists(watch(['ADDED', '5'], ['MODIFIED', '6']))), [])
  assert.match(watchTellsAll(lists(watch(['ADDED', '5']))).join(), /events make/)
  assert.match(watchTellsAll(lists(made, watch(['ADDED', '6']))).join(), /nothing of version 5/)
  assert.match(watchTellsAll(lists(watch(['ADDED', '6'], ['MODIFIED', '5']))).join(), /version 5 after 6/)
  assert.match(watchTellsAll(lists(watch(['MODIFIED', '6']))).join(), /out of turn/)
})

test('two servers differ in what they say, not in the names that they choose', () => {
  const answered = (uid: string, version: string, data: object) =>
    comparable([played('POST', collection, 201, map(version, data, { uid }))])
  const sequence = { id: 'x', steps: [{ method: 'POST', url: collection }] }
  const ours = answered('0b0e5a52-0000-4000-8000-000000000001', '7', { a: '1' })
  assert.deepEqual(
    differencesOf(sequence, ours, answered('0b0e5a52-0000-4000-8000-000000000002', '900', { a: '1' })),
    [],
  )
  const [difference] = differencesOf(
    sequence,
    ours,
    answered('0b0e5a52-0000-4000-8000-000000000002', '900', {}),
  )
  assert.deepEqual([difference?.path, difference?.left, difference?.right], ['body.data.a', '1', undefined])
})

test('a case notices what is missing, what is too much and what is another', () => {
  assert.deepEqual(
    mismatches({ a: /^x/, b: absent, c: [1, { d: 2 }] }, { a: 'xy', c: [1, { d: 2, e: 3 }] }),
    [],
  )
  assert.equal(mismatches({ a: 'x' }, {}).length, 1)
  assert.equal(mismatches({ a: absent }, { a: 1 }).length, 1)
  assert.equal(mismatches([1], [1, 2]).length, 1)
  assert.equal(mismatches({ a: /x/ }, { a: 'y' }).length, 1)
})
