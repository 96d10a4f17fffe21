import type { Command } from 'commander'
import { consumersFor, roleObjects } from '../../dashboard/role-consumers.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { newPlan, noWishes } from '../../rollover/plan.ts'
import { policyOf } from '../../rollover/policy.ts'
import { type Readiness, readinessSentence } from '../../rollover/readiness.ts'
import { generationsOf } from '../../rollover/readiness-facts.ts'
import { planOf } from '../../rollover/rotation-object.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { formatTable } from '../table.ts'
import { withApi } from '../with-api.ts'
import { addRole, bridgeOf } from './role-option.ts'

type Flags = ConnectionFlags & { output: OutputFormat }

export function register(ca: Command, io: CommandIo): void {
  const readiness = ca
    .command('readiness')
    .description(
      'who would be lost if the CA changed today; writes nothing (exit 3: somebody has to look first)',
    )
  addOutputOption(addConnectionOptions(addRole(readiness))).action(async (role: TrustRole, flags: Flags) => {
    const found = await withApi(io, flags, ({ client }) => look(client, role, io.clock.now()))
    print(io, flags.output, {
      text: () => `${readinessSentence(found)}\n\n${consumersTable(found)}`,
      value: found,
    })
    io.exitWith(exitCode(found))
  })
  const plan = ca
    .command('plan')
    .description(
      'what a rotation would do, to whom, and what it would wait for; writes nothing (exit 3: somebody has to look first)',
    )
  addOutputOption(addConnectionOptions(addRole(plan))).action(async (role: TrustRole, flags: Flags) => {
    const found = await withApi(io, flags, ({ client }) => look(client, role, io.clock.now()))
    print(io, flags.output, {
      text: () => planText(role, found),
      value: { ...found, bridge: bridgeOf(role) },
    })
    io.exitWith(exitCode(found))
  })
}

interface Found extends Readiness {
  role: TrustRole
  from: number
  to: number
  running?: string
}

async function look(client: KubeClient, role: TrustRole, now: number): Promise<Found> {
  const objects = await roleObjects(client)
  const { running, ...generations } = generationsOf(role, objects.rotations)
  const underWay = objects.rotations.find(({ metadata }) => metadata.name === running)
  const plan = underWay ? planOf(underWay, now) : newPlan({ ...asked, role, ...generations, now })
  const blockers = objects.bundles.some(({ spec }) => spec.role === role)
    ? []
    : [{ code: 'CeremonyNeeded' as const, about: 'trust roots', message: `no bundle of ${role} is signed` }]
  const { from, to } = plan
  return {
    role,
    from,
    to,
    ...(running !== undefined && { running }),
    ...consumersFor(plan, objects, now),
    blockers,
  }
}

/** A rotation that nobody has begun. */
const asked = {
  id: 'readiness',
  reason: 'Scheduled',
  author: '',
  policy: policyOf(),
  wishes: noWishes,
} as const

/** 3: somebody would have to look first; 0: an agent is there for each who has not proven yet. */
function exitCode({ consumers, blockers, running }: Found): number {
  const stuck = consumers.some(({ verdict }) => verdict === 'Blocker')
  return stuck || blockers.length > 0 || running !== undefined ? 3 : 0
}

function consumersTable({ consumers }: Found): string {
  return formatTable(
    [
      { title: 'consumer', cell: ({ id }) => id },
      { title: 'kind', cell: ({ kind }) => kind },
      { title: 'verdict', cell: ({ verdict }) => verdict },
      { title: 'why', cell: ({ why }) => why },
    ],
    consumers,
  )
}

function planText(role: TrustRole, found: Found): string {
  const { from, to, running } = found
  const lines = [
    `CA ${from} of ${role} would give way to CA ${to}, ${bridgeOf(role) === 'None' ? 'without a bridge' : 'bridged by a cross-signed certificate'}.`,
    ...(running === undefined ? [] : [`Rotation ${running} is not over: one at a time.`]),
    'Distributing: every place is written and read back. Proving: everybody named below proves by a handshake.',
    'Bridging, IssuerSwitch, Reissuing: the new chain is served, the new CA signs, nodes renew in waves.',
    'Unbridging, Distrusting: the old CA goes when nobody alive needs it. Each step goes back with `rollcall ca rollback`.',
    'Not managed here: front-proxy, etcd and webhook certificates.',
  ]
  return `${lines.join('\n')}\n\n${consumersTable(found)}`
}
