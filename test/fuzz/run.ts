/** Case after case against one API in memory; the state that one leaves is what the next finds. */
import type { ApiRequest, ApiResponse } from '../../src/kube/transport.ts'
import { seededRandom } from '../../src/testing/seeded-random.ts'
import { goodRequests } from './certificate-request.ts'
import { chanceOf } from './chance.ts'
import { complaint } from './judge.ts'
import { requestOf } from './request.ts'
import { send, startTarget, type Target } from './target.ts'

export interface FuzzOptions {
  seed: number
  /** Index of the first case. */
  from: number
  /** Whether to go on; asked before each case. */
  more(index: number): boolean
  /** A wrong answer, with what was asked. */
  onFinding(finding: string): void
  /** Told before a case is sent, so that one which never ends is known. */
  onCase(index: number): void
}

export interface FuzzResult {
  cases: number
  /** Answers by their status. */
  statuses: Record<number, number>
  /** Slowest case, in milliseconds. */
  slowest: number
}

/** Cases that one API sees; then a new one begins, so that its size does not grow with the run. */
const CASES_PER_API = 1000
/** A case that takes longer has been made to. Milliseconds. */
const TOO_SLOW = 3000

export async function fuzz(options: FuzzOptions): Promise<FuzzResult> {
  const result: FuzzResult = { cases: 0, statuses: {}, slowest: 0 }
  const good = await goodRequests(seededRandom(options.seed))
  let index = options.from
  while (options.more(index)) {
    const target = await startTarget()
    const end = index + CASES_PER_API
    for (; index < end && options.more(index); index++) await oneCase(target, good, index, options, result)
    await target.close()
    if (target.clock.pending() > 0) options.onFinding(`${target.clock.pending()} timers are left after close`)
  }
  return result
}

async function oneCase(
  target: Target,
  good: readonly string[],
  index: number,
  options: FuzzOptions,
  result: FuzzResult,
): Promise<void> {
  options.onCase(index)
  const chance = chanceOf(options.seed, index)
  const request = requestOf(chance, good)
  const began = performance.now()
  const report = (what: string) => options.onFinding(`case ${index}: ${what}\n  ${describe(request)}`)
  try {
    // One alone, or the same a few times at once: the later ones meet what the first is about to change.
    const answers = await Promise.all(
      Array.from({ length: chance.maybe(0.1) ? 4 : 1 }, () => send(target, chance, request)),
    )
    for (const answer of answers) {
      result.statuses[answer.status] = (result.statuses[answer.status] ?? 0) + 1
      const wrong = complaint(answer, await bodyOf(answer))
      if (wrong) report(wrong)
    }
  } catch (error) {
    report(`handle() threw ${error instanceof Error ? error.stack : String(error)}`)
  }
  const took = performance.now() - began
  if (took > TOO_SLOW) report(`took ${Math.round(took)} ms`)
  result.slowest = Math.max(result.slowest, took)
  result.cases++
  // Also where the client was not told, as with a HEAD.
  for (const error of target.takeErrors()) report(`the API logged: ${error}`)
  // Time goes on: nodes get their rate back, Events expire.
  if (index % 50 === 0) await target.clock.advance(5000)
}

/** The whole body; of a stream what is there at once. */
async function bodyOf({ body }: ApiResponse): Promise<string> {
  if (body instanceof Uint8Array) return new TextDecoder().decode(body)
  const stream = body[Symbol.asyncIterator]()
  const decoder = new TextDecoder()
  let text = ''
  for (let chunk = 0; chunk < 3; chunk++) {
    const next = await Promise.race([stream.next(), nothingYet()])
    if (!next || next.done) break
    text += decoder.decode(next.value, { stream: true })
  }
  await stream.return?.()
  return text
}

const nothingYet = () => new Promise<undefined>(resolve => setImmediate(resolve, undefined))

function describe({ method, url, headers, body }: ApiRequest): string {
  const text = body ? ` ${JSON.stringify(new TextDecoder().decode(body.subarray(0, 2000)))}` : ''
  return `${method} ${url} ${JSON.stringify(headers)}${text}`
}
