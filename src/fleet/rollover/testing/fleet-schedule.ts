/** A schedule of the model check over real keys, certificates, bundles and, at its end, handshakes. */
import { trustRoles } from '../../../kube/rollcall/trust-bundle.ts'
import { type Outcome, scheduleOf } from '../../../rollover/testing/schedule.ts'
import { SeededRandom } from '../../simulated/random.ts'
import { RolloverFleet } from '../rollover-fleet.ts'
import { sampleOverTls } from '../tls-sample.ts'

const bridges = ['CrossSigned', 'None'] as const

/** Throws Error where TLS or a path check decides otherwise than the model did. */
export async function runFleetSchedule(seed: number): Promise<Outcome> {
  const random = new SeededRandom(`fleet schedule ${seed}`)
  const role = trustRoles[seed % trustRoles.length] ?? 'client'
  const emergency = seed % 5 === 0
  const fleet = await RolloverFleet.create({
    nodes: 3,
    role,
    random,
    outsiders: true,
    standbys: seed % 2,
    reason: emergency ? 'Compromise' : 'Scheduled',
    policy: {
      bridge: emergency ? 'None' : (bridges[seed % bridges.length] ?? 'None'),
      timings: { bridgeSoak: '1m', excludeAfter: '2h' },
      ...(seed % 4 === 1 && { offline: 'ExcludeAfter' }),
    },
  })
  const steps = scheduleOf(fleet.world, { seed })
  for (;;) {
    const { done, value } = steps.next()
    if (done) {
      await sampleOverTls(fleet, 2, random)
      return value
    }
    fleet.authorities.now = fleet.world.now
    await fleet.settle()
  }
}
