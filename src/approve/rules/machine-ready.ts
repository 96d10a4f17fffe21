import type { ReadFacts } from '../facts.ts'
import { requesterOf } from '../requester.ts'
import { type Rule, waitOrDeny } from '../rule.ts'
import { subjectNode } from '../subject-node.ts'
import { waitingEnds } from '../waiting.ts'
import { kindOf } from './our-signer.ts'

/** Asked after whether the inventory could be read. */
export const machineReady: Rule<ReadFacts> = {
  name: 'MachineReady',
  sentence:
    'The inventory has the machine neither as Pending nor as Deleting; of client requests that is asked with bootstrap: Inventory.',
  check(facts) {
    const { csr, policy, evidence = [], request } = facts
    const joins = policy?.bootstrap === 'Inventory' && requesterOf(csr, policy).kind === 'bootstrap'
    if (kindOf(csr) === 'client' && !joins) return undefined
    const nodeName = subjectNode(request) ?? ''
    for (const source of evidence) {
      const machine = source.machine?.(nodeName)
      if (!machine || machine.state === 'Ready') continue
      const text = `${source.name} has the machine of node "${nodeName}" as ${machine.state}`
      return { ...waitOrDeny(facts.now, waitingEnds(facts), 'MachineNotReady', text), nodes: [nodeName] }
    }
    return undefined
  },
}
