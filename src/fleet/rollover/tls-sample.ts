/** Real handshakes between some of the nodes and an API server, as they are configured at that moment. */
import { converse } from '../../rollover/simulated/tls-handshake.ts'
import { anchorsOf, type Member, verifies } from '../../rollover/simulated/world.ts'
import type { SeededRandom } from '../simulated/random.ts'
import type { RolloverFleet } from './rollover-fleet.ts'

export interface SampleResult {
  handshakes: number
  /** Of them, how many came to talk. */
  talked: number
}

/**
 * This many nodes, drawn by chance among those that are there, talk to each API server over TLS: the CA's own keys, the
 * node's own key, what the node has loaded. Throws Error where TLS decides otherwise than the model did.
 */
export async function sampleOverTls(
  fleet: RolloverFleet,
  most: number,
  random: SeededRandom,
): Promise<SampleResult> {
  const there = fleet.world.members.filter(({ kind, online, gone }) => kind === 'Kubelet' && online && !gone)
  const result = { handshakes: 0, talked: 0 }
  for (const member of drawn(there, most, random)) {
    const server = random.pick(fleet.world.servers)
    const { expected, talked } = await talk(fleet, member, server)
    if (talked !== expected)
      throw new Error(`${member.id} and ${server.id}: TLS ${talked}, the model says ${expected}`)
    result.handshakes += 1
    result.talked += Number(talked)
  }
  return result
}

type Server = RolloverFleet['world']['servers'][number]

async function talk({ world, authorities, issuing }: RolloverFleet, member: Member, server: Server) {
  const trusts = authorities.rootsForTls(anchorsOf(world, member.loaded))
  const { presents, judgesBy } = server
  if (presents) {
    const talked = await converse({ server: authorities.presented(presents), clientTrusts: trusts })
    return { talked, expected: verifies(world, presents, member.loaded) }
  }
  const presented = await issuing.presented(member.id)
  if (!presented || !member.leaf || judgesBy === undefined) return { talked: true, expected: true }
  const judge = authorities.rootsForTls(anchorsOf(world, judgesBy))
  const expected = verifies(world, member.leaf, judgesBy)
  if (world.role === 'kubelet-serving')
    return { talked: await converse({ server: presented, clientTrusts: judge }), expected }
  // The API's own certificate is not of this role: one that everybody trusts stands for it.
  const own = { authority: member.leaf.authority, mode: 'bare' } as const
  const served = authorities.presented(own)
  const clientTrusts = authorities.rootsForTls([own.authority])
  const talked = await converse({ server: served, clientTrusts, client: presented, serverTrusts: judge })
  return { talked, expected }
}

function drawn<T>(from: readonly T[], most: number, random: SeededRandom): T[] {
  const left = [...from]
  const picked: T[] = []
  while (picked.length < most && left.length > 0) {
    const index = random.integer(0, left.length - 1)
    const [one] = left.splice(index, 1)
    if (one !== undefined) picked.push(one)
  }
  return picked
}
