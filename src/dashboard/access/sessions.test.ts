import assert from 'node:assert/strict'
import { test } from 'node:test'
import { createManualClock } from '../../testing/manual-clock.ts'
import { seededRandom } from '../../testing/seeded-random.ts'
import { createSessions, isSessionToken, linkLife, longestSession, sessionLife } from './sessions.ts'

const credential = { peer: { remoteAddress: '127.0.0.1' }, headers: { authorization: 'Bearer t' } }

function made() {
  const clock = createManualClock(Date.UTC(2026, 0))
  const sessions = createSessions({ clock, random: seededRandom(1) })
  return { clock, sessions }
}

test('a link opens one session, once', () => {
  const { sessions } = made()
  const { key } = sessions.link(credential, 'jane')
  const opened = sessions.open(key)
  assert.ok(opened && isSessionToken(opened.token))
  assert.deepEqual(sessions.find(opened.token)?.credential, credential)
  assert.equal(sessions.open(key), undefined)
  assert.equal(sessions.open('guessed'), undefined)
  assert.equal(sessions.find(key), undefined)
})

test('a link is good for two minutes', () => {
  const { clock, sessions } = made()
  const { key } = sessions.link(credential, 'jane')
  clock.step(linkLife)
  assert.equal(sessions.open(key), undefined)
})

test('a session ends after a quarter of an hour unless it is renewed, and after a working day in any case', () => {
  const { clock, sessions } = made()
  const open = () => sessions.open(sessions.link(credential, 'jane').key) ?? assert.fail()
  const idle = open()
  clock.step(sessionLife)
  assert.equal(sessions.find(idle.token), undefined)
  const kept = open()
  for (let renewed = 0; renewed < longestSession / 600_000 - 1; renewed++) {
    clock.step(600_000)
    sessions.renew(sessions.find(kept.token) ?? assert.fail('it was renewed in time'))
  }
  clock.step(600_000)
  assert.equal(sessions.find(kept.token), undefined)
})

test('a session that was closed is none any more', () => {
  const { sessions } = made()
  const { token } = sessions.open(sessions.link(credential, 'jane').key) ?? assert.fail()
  sessions.close(token)
  assert.equal(sessions.find(token), undefined)
})

test('of a flood of links the oldest go first, and only those of who makes them', () => {
  const { sessions } = made()
  const others = sessions.open(sessions.link(credential, 'operator').key) ?? assert.fail()
  const keys = Array.from({ length: 51 }, () => sessions.link(credential, 'jane').key)
  assert.equal(sessions.open(keys[0] ?? ''), undefined)
  for (let n = 0; n < 2000; n += 1) sessions.open(sessions.link(credential, 'jane').key)
  assert.ok(sessions.find(others.token))
})
