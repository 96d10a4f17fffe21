/** Policies from the controller's own file, read again while it runs. */
import { createHash } from 'node:crypto'
import { RollcallError, systemCode } from '../errors.ts'
import { policyInForce } from '../kube/rollcall/certificate-policy.ts'
import { type Clock, type Disk, type Log, sleep } from '../ports.ts'
import { type PolicyDocument, parsePolicies } from './policy-document.ts'
import { PolicySet } from './policy-set.ts'
import type { FollowPolicies } from './policy-source.ts'
import { readSettled } from './read-settled.ts'

export interface PolicyFile {
  path: string
  disk: Pick<Disk, 'read'>
  clock: Clock
  log: Log
}

/** Milliseconds between two looks. */
const INTERVAL = 10_000

/** The documents of the file. Throws POLICY_INVALID, also where none of them would be in force, or the end is missing. */
export function parsePolicyFile(content: string, path: string): PolicyDocument[] {
  const wrong = (why: string) => new RollcallError('POLICY_INVALID', `${path}: ${why}`, { path })
  if (isCutOff(content)) throw wrong('does not end in a line break, so it may be cut off')
  const documents = parsePolicies(content, path)
  if (documents.some(({ name }) => name === policyInForce)) return documents
  throw wrong(`holds no policy named ${policyInForce}`)
}

/** Half a policy may be a laxer one: a line that is not ended may be the last one that found room on the disk. */
function isCutOff(content: string): boolean {
  const text = content.trimEnd()
  const ended = content.slice(text.length).includes('\n') || /[}\]]$/.test(text)
  return text !== '' && !ended
}

/** A file that cannot be read or used changes nothing: what it said last goes on to count. */
export function policiesFromFile({ path, disk, clock, log }: PolicyFile): FollowPolicies {
  return onChange => {
    const set = new PolicySet()
    const stopping = new AbortController()
    const first = Promise.withResolvers<void>()
    let before: string | undefined
    let told: string | undefined

    function take(content: string): void {
      const documents = parsePolicyFile(content, path)
      const revision = createHash('sha256').update(content).digest('hex').slice(0, 12)
      for (const name of set.names()) set.remove(name)
      for (const document of documents) set.put({ ...document, revision, problems: [] })
      log.info('policy file read', { path, revision, policies: documents.map(({ name }) => name).join(', ') })
      onChange()
    }

    async function look(): Promise<void> {
      try {
        const content = await readSettled(path, before, { disk, clock, signal: stopping.signal })
        if (content === before) return
        before = content
        take(content)
        told = undefined
      } catch (error) {
        const why = systemCode(error) ?? (error instanceof Error ? error.message : String(error))
        if (why !== told)
          log.error('the policy file cannot be used, its last good content goes on to count', { path, why })
        told = why
      }
    }

    async function run(): Promise<void> {
      while (!stopping.signal.aborted) {
        await look()
        first.resolve()
        await sleep(clock, INTERVAL, stopping.signal)
      }
    }

    const running = run()
    return {
      inForce: () => set.inForce(),
      unusable: () => (set.inForce() ? undefined : told?.split('\n', 1)[0]),
      shadows: () => set.shadows(),
      settled: first.promise,
      compared(shadow, difference) {
        if (difference) log.info('a shadow policy judges otherwise', { policy: shadow.name, ...difference })
      },
      stop() {
        stopping.abort()
        return running
      },
    }
  }
}
