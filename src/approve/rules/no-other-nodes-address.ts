import { formatTime } from '../../kube/time-format.ts'
import { advantageOf, type Contest, contestsOf, type Standing } from '../contest.ts'
import type { ReadFacts } from '../facts.ts'
import { deny, type Rule, waitOrDeny } from '../rule.ts'
import { waitingEnds } from '../waiting.ts'

export const noOtherNodesAddress: Rule<ReadFacts> = {
  name: 'NoOtherNodesAddress',
  sentence:
    'No SAN is a name or address that another node keeps: by evidence, live certificate or earlier claim.',
  only: 'serving',
  check(facts) {
    for (const contest of contestsOf(facts)) {
      const keeper = contest.rivals.find(rival => advantageOf(contest.mine, rival) === undefined)
      if (!keeper) continue
      const released = keeper.since === Number.POSITIVE_INFINITY
      if (!released)
        return { ...deny('OwnedByOtherNode', claimedText(contest, keeper)), nodes: [keeper.nodeName] }
      if (facts.policy?.releasedAddresses === 'free') continue
      // The Node may be deleted and its certificate may expire: both need no new request.
      const text = certifiedText(contest, keeper)
      const objection = waitOrDeny(facts.now, waitingEnds(facts), 'OwnedByOtherNode', text)
      return { ...objection, nodes: [keeper.nodeName] }
    }
    return undefined
  },
}

function claimedText({ san, mine, as }: Contest, keeper: Standing): string {
  const sources = keeper.sources.filter(source => source !== 'a live certificate').join(', ')
  const form = as ? ` (${as})` : ''
  return `SAN ${san.shown}${form} is also claimed by node "${keeper.nodeName}" (${sources}), which keeps it: ${advantageText(keeper, mine)}`
}

function advantageText(keeper: Standing, mine: Standing): string {
  switch (advantageOf(keeper, mine)) {
    case 'evidence':
      return mine.strength === 0 ? 'nothing proves it for this node' : 'its evidence is stronger'
    case 'certificate':
      return `its certificate for it is valid ${untilText(keeper)}`
    case 'claim':
      return 'it claimed it first'
    case 'node':
      return 'its Node is older'
    default:
      return 'nothing tells who was first'
  }
}

function certifiedText({ san, as }: Contest, keeper: Standing): string {
  const form = as ? ` (${as})` : ''
  return `SAN ${san.shown}${form} is in a certificate of node "${keeper.nodeName}" that is valid ${untilText(keeper)}; delete that Node if it is gone`
}

function untilText({ certifiedUntil = Number.POSITIVE_INFINITY }: Standing): string {
  return Number.isFinite(certifiedUntil) ? `until ${formatTime(certifiedUntil)}` : 'as soon as it is issued'
}
