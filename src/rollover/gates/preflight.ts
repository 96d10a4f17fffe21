import { budget } from '../expiry.ts'
import type { AuthorityFacts, Observations } from '../observations.ts'
import type { Plan } from '../plan.ts'
import { isClockDisputed } from '../standing.ts'
import { type Blocker, type Gate, gate } from './gate.ts'

/** PREFLIGHT: nothing is begun that could not be finished or undone. */
export function preflightGate(plan: Plan, observations: Observations): Gate {
  const { preflight, authorities, now } = observations
  const from = authorities.get(plan.from)
  const bridged = plan.policy.bridge === 'CrossSigned'
  const timings = plan.policy.timings
  const remaining = (from?.notAfter ?? 0) - now
  const checks: [boolean, Blocker['code'], string, string][] = [
    [preflight.unmanaged === undefined, 'RoleUnmanaged', 'role', preflight.unmanaged ?? ''],
    [
      preflight.otherRotation === undefined,
      'OtherRotation',
      'role',
      `rotation ${preflight.otherRotation} is not over`,
    ],
    [from !== undefined, 'ArtefactMissing', 'old CA', `CA ${plan.from} is not known`],
    [preflight.oldKeyUsable, 'KeyUnusable', 'old CA', 'its key does not sign'],
    [
      !bridged || from?.mayCrossSign === true,
      'KeyUnusable',
      'old CA',
      'may not sign a CA below it; set bridge: None',
    ],
    [
      remaining > budget(timings) || plan.deadline,
      'LifeTooShort',
      'old CA',
      'ends before the rotation would',
    ],
    [preflight.quorumHealthy, 'QuorumUnhealthy', 'control plane', 'a member is down'],
    [preflight.backupRecent, 'BackupMissing', 'backup', 'is missing or old'],
    [!isClockDisputed(observations, plan), 'ClockDisputed', 'clocks', 'disagree'],
  ]
  const blockers = checks.flatMap(([holds, code, about, message]) =>
    holds ? [] : [{ code, about, message }],
  )
  return gate('PREFLIGHT', checks.length, blockers)
}

/** ARTEFACTS: the new CA and both cross-signed certificates were read back and verify each other; the new CA is fit. */
export function artefactsGate(plan: Plan, { authorities, artefacts }: Observations): Gate {
  const from = authorities.get(plan.from)
  const to = authorities.get(plan.to)
  const bridged = plan.policy.bridge === 'CrossSigned'
  const checks: [boolean, string][] = [
    [artefacts.newCa && to !== undefined, 'the new CA is not read back'],
    [!bridged || artefacts.newByOld, 'new signed by old is not read back'],
    [!bridged || artefacts.oldByNew, 'old signed by new is not read back'],
  ]
  const missing = checks.flatMap(([holds, message]): Blocker[] => {
    return holds ? [] : [{ code: 'ArtefactMissing', about: 'new CA', message }]
  })
  return gate('ARTEFACTS', 4, [...missing, ...(from && to ? whyUnfit(from, to, plan) : [])])
}

function whyUnfit(from: AuthorityFacts, to: AuthorityFacts, plan: Plan): Blocker[] {
  const life = to.notAfter - to.notBefore
  const checks: [boolean, Blocker['code'], string][] = [
    // Two CAs of one name break GnuTLS by the order of the bundle; cross-signing one key is a loop for Go >= 1.19.
    [from.subject !== to.subject, 'SubjectNotUnique', 'has the name of the old one'],
    [from.key !== to.key, 'KeyUnusable', 'has the key of the old one'],
    [to.keyIdentifier !== undefined, 'ArtefactMissing', 'has no subject key identifier'],
    [to.keyUsable, 'KeyUnusable', 'its key does not sign'],
    [
      to.notAfter > from.notAfter && life > 2 * budget(plan.policy.timings),
      'LifeTooShort',
      'would not outlive its own rotation',
    ],
  ]
  return checks.flatMap(([holds, code, message]) => (holds ? [] : [{ code, about: 'new CA', message }]))
}
