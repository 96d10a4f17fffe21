import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import type { CertificateStatus } from '../../hold/certificate-status.ts'
import type { KeyPair } from '../../hold/key-pair.ts'
import { Secret } from '../../keys/secret.ts'
import { createManualClock, settle } from '../../testing/manual-clock.ts'
import { credentialAnswer } from './credential-answer.ts'
import { askAgainAt, wantedVersion } from './exec-credential.ts'

const minute = 60_000
const now = Date.parse('2026-05-01T10:20:30Z')

describe('until when client-go may use a certificate without asking', () => {
  test('is at most five minutes, never beyond its end, and always in the future while it is good', () => {
    const lifetime = fc.integer({ min: 5 * minute, max: 400 * 1440 * minute })
    fc.assert(
      fc.property(
        lifetime,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.double({ min: 0.7, max: 0.9, noNaN: true }),
        (life, gone, part) => {
          const leaf = {
            notBefore: now - Math.floor(life * gone),
            notAfter: now - Math.floor(life * gone) + life,
          }
          fc.pre(leaf.notAfter > now)
          const at = askAgainAt(leaf, leaf.notBefore + life * part, now)
          assert.ok(at > now && at <= now + 5 * minute && at <= leaf.notAfter)
        },
      ),
    )
  })

  test('is soon after the renewal is due, so that the new one is taken on before the old one ends', () => {
    const leaf = { notBefore: now - 8 * minute, notAfter: now + 2 * minute }
    assert.equal(askAgainAt(leaf, now + 30_000, now), now + 30_000)
    assert.equal(askAgainAt(leaf, now - 1, now), now + minute, 'overdue: a tenth before the end')
    assert.equal(askAgainAt(leaf, now + 1, now), now + 10_000, 'not for every request')
  })

  test('a caller that names no version, or rubbish, is answered in v1', () => {
    const v1beta1 = 'client.authentication.k8s.io/v1beta1'
    assert.equal(wantedVersion(`{"apiVersion":"${v1beta1}"}\n`), v1beta1)
    for (const info of [undefined, '', '{', '[]', '{"apiVersion":"client.authentication.k8s.io/v1alpha1"}'])
      assert.equal(wantedVersion(info), undefined)
  })
})

describe('the agent’s answer to a credential plugin', () => {
  function held() {
    const clock = createManualClock(now)
    const listeners = new Set<() => void>()
    let status: CertificateStatus = {
      state: 'Pending',
      failures: 3,
      lastError: 'no answer',
      requesting: 'initial',
    }
    let pair: KeyPair | undefined
    const answer = credentialAnswer(
      {
        current: () => pair,
        status: () => status,
        onChange: listener => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      },
      clock,
    )
    const ask = (wait: number, signal = new AbortController().signal) =>
      answer({ method: 'GET', url: `/v1/credential?wait=${wait}`, signal })
    const change = (next: KeyPair | undefined, state: CertificateStatus['state']) => {
      pair = next
      status = { state, failures: 0 }
      for (const listener of [...listeners]) listener()
    }
    return { clock, ask, change, answer, listeners }
  }
  const leaf = { notBefore: now - minute, notAfter: now + 60 * minute } as KeyPair['leaf']
  const good: KeyPair = { chain: 'CHAIN', key: new Secret('KEY'), leaf }

  test('waits for the certificate, and gives it as soon as it is there', async () => {
    const { clock, ask, change, listeners } = held()
    const waiting = ask(30)
    await clock.advance(20_000)
    change(good, 'Valid')
    const { status, body } = await waiting
    assert.equal(status, 200)
    assert.equal(JSON.parse(body).clientKeyData, 'KEY')
    assert.equal(clock.pending() + listeners.size, 0)
  })

  test('report 8: a certificate that the API rejects is not given, and why there is none is said in time', async () => {
    const { clock, ask, change, listeners } = held()
    change(good, 'Rejected')
    const waiting = ask(5)
    await settle()
    await clock.advance(5000)
    const { status, body } = await waiting
    assert.deepEqual(
      [status, JSON.parse(body).error],
      [503, 'the node has no client certificate now (Rejected)'],
    )
    assert.equal(clock.pending() + listeners.size, 0)
  })

  test('attack: callers that leave cost nothing, and nobody waits longer than a minute', async () => {
    const { clock, ask, answer, listeners } = held()
    const gone = new AbortController()
    const waiting = Array.from({ length: 100 }, () => ask(30, gone.signal))
    gone.abort()
    await Promise.all(waiting)
    assert.equal(clock.pending() + listeners.size, 0)
    const patient = ask(1e9)
    await clock.advance(minute)
    assert.equal((await patient).status, 503)
    const { signal } = new AbortController()
    assert.equal((await answer({ method: 'POST', url: '/v1/credential', signal })).status, 404)
    assert.equal((await answer({ method: 'GET', url: '/v1/credential?wait=x', signal })).status, 503)
  })
})
