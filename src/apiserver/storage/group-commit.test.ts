import assert from 'node:assert/strict'
import { describe, it } from 'node:test'
import { GroupCommit } from './group-commit.ts'
import { defaultHistoryLimits } from './history.ts'
import { type Plan, Revisions } from './revisions.ts'

const value = new Uint8Array(1)

function committing() {
  const revisions = new Revisions(defaultHistoryLimits, { revision: 1, entries: [] })
  const plans: Plan[] = []
  const commits = new GroupCommit({ revisions, commit: plan => plans.push(plan), applied() {} })
  const put = (key: string, expect = 0) => commits.write({ key, expect, value })
  const keys = () => plans.splice(0).map(plan => plan.changes.map(change => change.event.key).join())
  return { revisions, commits, put, keys }
}

describe('group commit', () => {
  it('gathers what arrives while the disk works, and shows nothing before it is done', async () => {
    const { revisions, commits, put, keys } = committing()
    const first = [put('a'), put('b')]
    await Promise.resolve()
    const second = [put('c'), put('d')]
    await Promise.resolve()
    assert.deepEqual([keys(), revisions.revision], [['a,b'], 1])
    commits.committed()
    await Promise.all(first)
    assert.deepEqual([keys(), revisions.revision, revisions.get('c')], [['c,d'], 3, undefined])
    commits.committed()
    await Promise.all(second)
    assert.equal(revisions.revision, 5)
  })

  it('forgets a refused group and goes on with the next, which takes its revisions', async () => {
    const { revisions, commits, put, keys } = committing()
    const refused = put('a')
    await Promise.resolve()
    const next = put('b')
    await Promise.resolve()
    commits.refused(new Error('disk full'))
    await assert.rejects(refused, { message: 'disk full' })
    assert.deepEqual(keys(), ['a', 'b'])
    commits.committed()
    assert.deepEqual(await next, { ok: true, revision: 2 })
    assert.equal(revisions.get('a'), undefined)
  })

  it('answers a write that cannot hold without the disk', async () => {
    const { put, keys } = committing()
    assert.deepEqual(await put('a', 7), { ok: false, current: undefined })
    assert.deepEqual(keys(), [])
  })

  it('finishes what it has before it ends, and refuses the rest', async () => {
    const { commits, put, keys } = committing()
    const last = put('a')
    const ended = commits.end(new Error('closed'))
    await assert.rejects(put('b'), { message: 'closed' })
    assert.deepEqual(keys(), ['a'])
    commits.committed()
    await ended
    assert.equal((await last).ok, true)
  })

  it('refuses all that waits when the disk is out of reach', async () => {
    const { commits, put } = committing()
    const inFlight = put('a')
    await Promise.resolve()
    const queued = put('b')
    commits.abandon(new Error('gone'))
    await assert.rejects(inFlight, { message: 'gone' })
    await assert.rejects(queued, { message: 'gone' })
    await assert.rejects(put('c'), { message: 'gone' })
  })
})
