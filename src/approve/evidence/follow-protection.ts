/** Keeps an eye on the admission policy that lets only operators and cloud controllers write the addresses of Nodes. */
import { inForce } from '../../kube/admission/in-force.ts'
import { nodeAddressProtection } from '../../kube/admission/shipped.ts'
import {
  type ValidatingAdmissionPolicy,
  type ValidatingAdmissionPolicyBinding,
  validatingAdmissionPolicies,
  validatingAdmissionPolicyBindings,
} from '../../kube/admission/validating-policy.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { KubeObject, ResourceRef } from '../../kube/types.ts'
import type { Clock, Log, Random } from '../../ports.ts'
import type { Protection } from '../facts.ts'
import { followWhereReadable } from '../reserved/follow-where-readable.ts'

export interface FollowProtection {
  client: KubeClient
  clock: Clock
  random: Random
  log: Log
  watchTimeoutSeconds?: number | undefined
  onChange(): void
}

export interface FollowedProtection {
  /** As it is seen now; undefined: not looked at yet. */
  state(): Protection | undefined
  readonly settled: Promise<void>
  stop(): Promise<void>
}

/** Milliseconds after which it is looked again whether the kinds can be read. */
const TRY_AGAIN = 60_000

export function followProtection(options: FollowProtection): FollowedProtection {
  const { clock, log } = options
  const policies = new Map<string, ValidatingAdmissionPolicy>()
  const bindings = new Map<string, ValidatingAdmissionPolicyBinding>()
  let looked = false
  let state: Protection | undefined
  /** The versions it was last seen in, and when it was first seen in them. */
  let seen = { revision: '', at: 0 }

  function look(): void {
    if (!looked) return
    const before = state
    const found = inForce(nodeAddressProtection, [...policies.values()], [...bindings.values()])
    const revision = revisionOf([...policies.values()], [...bindings.values()])
    if (seen.revision !== revision || !before?.inForce) seen = { revision, at: clock.now() }
    // Where its age is not known: since it was seen so.
    state = found.inForce ? { inForce: true, since: found.since ?? seen.at } : found
    if (before?.inForce === state.inForce) return
    if (found.inForce) log.info('node addresses are protected')
    else
      log.warn('node addresses are not protected, so ProtectedNodeStatus proves nothing', { why: found.why })
    options.onChange()
  }

  const followers = [
    follow(options, validatingAdmissionPolicies, policies, look),
    follow(options, validatingAdmissionPolicyBindings, bindings, look),
  ]
  const settled = Promise.all(followers.map(follower => follower.settled)).then(() => {
    looked = true
    look()
  })
  return {
    state: () => state,
    settled,
    async stop() {
      await Promise.all(followers.map(follower => follower.stop()))
    },
  }
}

/** Of ours alone: what others write changes nothing. */
function revisionOf(
  policies: readonly ValidatingAdmissionPolicy[],
  bindings: readonly ValidatingAdmissionPolicyBinding[],
): string {
  const { name } = nodeAddressProtection.policy.metadata
  const ours = [
    ...policies.filter(({ metadata }) => metadata.name === name),
    ...bindings.filter(({ spec }) => spec?.policyName === name),
  ]
  return ours.map(({ metadata: { uid = '', generation = 0 } }) => `${uid}/${generation}`).join(' ')
}

function follow<T extends KubeObject>(
  { client, clock, random, log, watchTimeoutSeconds }: FollowProtection,
  resource: ResourceRef,
  known: Map<string, T>,
  onChange: () => void,
) {
  const message = `${resource.plural} cannot be read, so node addresses do not count as protected`
  return followWhereReadable<T>({
    client,
    clock,
    random,
    log,
    resource,
    ...(watchTimeoutSeconds && { watchSeconds: watchTimeoutSeconds }),
    unreadable: { message, tryAgain: TRY_AGAIN },
    onChange(type, object) {
      if (type === 'DELETED') known.delete(object.metadata.name)
      else known.set(object.metadata.name, object)
      onChange()
    },
  })
}
