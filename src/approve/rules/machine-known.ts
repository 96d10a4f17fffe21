import type { ReadFacts } from '../facts.ts'
import { type ApprovalPolicy, defaultJoinWindowSeconds, rebootstrapOf } from '../policy.ts'
import { requesterOf } from '../requester.ts'
import { deny, type Rule, waitOrDeny } from '../rule.ts'
import { subjectNode } from '../subject-node.ts'
import type { Objection } from '../verdict.ts'
import { createdAt, waitingEnds } from '../waiting.ts'

/** Milliseconds that clocks may differ. */
const skew = 10_000

/** A credential to bootstrap with is shared by many; where the policy wants more, whoever runs the machines has to know this one. */
export const machineKnown: Rule<ReadFacts> = {
  name: 'MachineKnown',
  sentence:
    'Where the policy says bootstrap: Inventory, a bootstrap identity asks for a machine that the inventory knows, that has not joined, and soon after it was made.',
  only: 'client',
  check(facts) {
    const { csr, policy, request } = facts
    if (policy?.bootstrap !== 'Inventory' || requesterOf(csr, policy).kind !== 'bootstrap') return undefined
    const nodeName = subjectNode(request) ?? ''
    const unread = unreadable(facts, nodeName)
    if (unread) return unread
    const machines = (facts.evidence ?? []).flatMap(source => source.machine?.(nodeName) ?? [])
    if (machines.length === 0) {
      const text = `no inventory knows a machine for node "${nodeName}"`
      return { ...waitOrDeny(facts.now, waitingEnds(facts), 'MachineUnknown', text), nodes: [nodeName] }
    }
    if (rebootstrapOf(policy) === 'deny' && machines.some(({ joined }) => joined))
      return deny('NodeExists', `the machine of node "${nodeName}" has a Node already, says the inventory`)
    const times = machines.flatMap(({ created }) => created ?? [])
    return times.some(created => !isWithin(createdAt(facts), created, policy))
      ? deny('JoinWindowMissed', windowText(nodeName, policy))
      : undefined
  },
}

/** What cannot be asked says nothing about the machine. */
function unreadable({ evidence = [] }: ReadFacts, nodeName: string): Objection | undefined {
  for (const source of evidence) {
    const { name } = source
    const answer = source.evidence(nodeName, [])
    if ('error' in answer)
      return { outcome: 'Retry', code: 'EvidenceUnavailable', message: `${name}: ${answer.error}` }
    if ('conflict' in answer) return deny('InventoryAmbiguous', `${name}: ${answer.conflict}`)
  }
  return undefined
}

/** J10. All in milliseconds since the epoch. */
function isWithin(asked: number, created: number, { joinWindowSeconds }: ApprovalPolicy): boolean {
  const window = (joinWindowSeconds ?? defaultJoinWindowSeconds) * 1000
  return asked > created - skew && asked < created + window
}

function windowText(
  nodeName: string,
  { joinWindowSeconds = defaultJoinWindowSeconds }: ApprovalPolicy,
): string {
  return `node "${nodeName}" asks for its first certificate at another time than within ${joinWindowSeconds} s after its machine was made`
}
