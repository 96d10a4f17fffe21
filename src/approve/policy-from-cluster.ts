/** Policies from CertificatePolicy objects, with what became of them written to their status. */
import { isStatus, type KubeClient } from '../kube/client.ts'
import { sameJson } from '../kube/json.ts'
import type { CertificatePolicy } from '../kube/rollcall/certificate-policy/spec.ts'
import { certificatePolicies, policyInForce, problemsOf } from '../kube/rollcall/certificate-policy.ts'
import { pathText } from '../kube/schema-problems.ts'
import { startWorkQueue } from '../kube/work-queue.ts'
import type { Clock, Log, Random } from '../ports.ts'
import { PolicySet } from './policy-set.ts'
import type { FollowPolicies } from './policy-source.ts'
import { statusOf } from './policy-status.ts'
import { followWhereReadable } from './reserved/follow-where-readable.ts'
import { ShadowTally } from './shadow-tally.ts'

export interface ClusterPolicies {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  watchTimeoutSeconds?: number | undefined
}

/** Milliseconds between two reports of a shadow: its counts change with every request. */
const REPORT_INTERVAL = 30_000
/** Of one policy that are told, and characters of each: a condition's message takes 32 KiB. */
const [mostProblems, longestProblem] = [20, 1024]
/** Milliseconds after which it is looked again whether the kind is served. */
const TRY_AGAIN = 30_000

export function policiesFromCluster(options: ClusterPolicies): FollowPolicies {
  const { client, clock, random, log, watchTimeoutSeconds } = options
  return onChange => {
    const set = new PolicySet()
    const objects = new Map<string, CertificatePolicy>()
    const tally = new ShadowTally()
    const reported = new Map<string, number>()
    const statuses = startWorkQueue({ name: 'policy-status', workers: 1, clock, log, process: writeStatus })
    const following = followWhereReadable<CertificatePolicy>({
      client,
      clock,
      random,
      log,
      resource: certificatePolicies,
      ...(watchTimeoutSeconds && { watchSeconds: watchTimeoutSeconds }),
      unreadable: {
        message: 'certificatepolicies cannot be read now',
        tryAgain: TRY_AGAIN,
      },
      // There may be one that asks for more than no policy does, also of client requests.
      onForbidden(why) {
        forbidden = why && `certificatepolicies may not be read: ${why}`.slice(0, longestProblem)
        if (forbidden)
          log.error('certificatepolicies may not be read: nothing is decided until they can', { why })
        else tellWhether()
        onChange()
      },
      onChange(type, object, previous) {
        const { name } = object.metadata
        if (type === 'DELETED') {
          objects.delete(name)
          set.remove(name)
          tally.forget(name)
          reported.delete(name)
          log.warn('a policy was deleted', { policy: name })
        } else {
          objects.set(name, object)
          // Our own writes of the status change no policy; those of others may have to be written again.
          if (previous && sameSpec(previous, object)) return statuses.add(name)
          put(object)
        }
        for (const other of set.names()) statuses.add(other)
        if (told !== undefined) tellWhether()
        onChange()
      },
    })

    let forbidden: string | undefined
    let told: boolean | undefined
    /** Whether there is a policy decides over all serving requests, so each change of that is said. */
    function tellWhether(): void {
      if (forbidden !== undefined) return
      const there = set.inForce() !== undefined
      if (there !== told && !there)
        log.warn(
          `no CertificatePolicy named ${policyInForce}: kubelet-serving requests stay pending until there is one`,
        )
      told = there
    }
    void following.settled.then(tellWhether)

    function put({ metadata, spec }: CertificatePolicy): void {
      const { name } = metadata
      // As many as a condition has room for.
      const problems = problemsOf(name, spec ?? {}, 'resource')
        .slice(0, mostProblems)
        .map(({ path, text }) => `${pathText(path)}: ${text}`.slice(0, longestProblem))
      set.put({ name, spec: spec ?? {}, revision: revisionOf(metadata), problems })
      if (problems.length > 0)
        log.error('a policy cannot be used, its last good version goes on to count', {
          policy: name,
          problems: problems.join('; '),
        })
      else log.info('policy read', { policy: name, generation: metadata.generation })
    }

    async function writeStatus(name: string, signal: AbortSignal): Promise<number | undefined> {
      const object = objects.get(name)
      if (!object) return undefined
      const due = (reported.get(name) ?? Number.NEGATIVE_INFINITY) + REPORT_INTERVAL
      const status = statusOf(object, set.standing(name), tally.report(name), clock.now())
      if (status === 'unchanged') return undefined
      if (status.onlyReport && clock.monotonic() < due) return due - clock.monotonic()
      reported.set(name, clock.monotonic())
      try {
        const next = { ...object, status: status.status }
        const written = await client.update<CertificatePolicy>(certificatePolicies, next, {
          subresource: 'status',
          signal,
        })
        // Unless the watch brought a newer one meanwhile.
        if (objects.get(name) === object) objects.set(name, written)
      } catch (error) {
        // Changed or deleted meanwhile: the watch brings it back.
        if (!isStatus(error, 'Conflict') && !isStatus(error, 'NotFound')) throw error
      }
      return undefined
    }

    return {
      inForce: () => set.inForce(),
      unusable: () => (set.inForce() ? undefined : (forbidden ?? set.unusable())),
      shadows: () => set.shadows(),
      settled: following.settled,
      compared(shadow, difference) {
        tally.count(shadow.name, shadow.revision, difference)
        if (difference) log.info('a shadow policy judges otherwise', { policy: shadow.name, ...difference })
        statuses.add(shadow.name)
      },
      async stop() {
        await Promise.all([following.stop(), statuses.stop()])
      },
    }
  }
}

const sameSpec = (a: CertificatePolicy, b: CertificatePolicy) =>
  revisionOf(a.metadata) === revisionOf(b.metadata) && sameJson(a.spec, b.spec)

/** A new object of the same name is another policy. */
const revisionOf = ({ uid = '', generation = 0 }: CertificatePolicy['metadata']) => `${uid}/${generation}`
