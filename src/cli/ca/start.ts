import { type Command, Option } from 'commander'
import { whoAmI } from '../../doctor/requests/who-am-i.ts'
import { RollcallError } from '../../errors.ts'
import { listAll } from '../../kube/client.ts'
import { type CARotationObject, caRotation, type RotationReason } from '../../kube/rollcall/ca-rotation.ts'
import { type RotationTimings, rotationTimings } from '../../kube/rollcall/rotation-timings.ts'
import type { TrustRole } from '../../kube/rollcall/trust-bundle.ts'
import { type ConsumerKind, consumerKinds, type ProofLevel } from '../../kube/rollcall/trust-consumer.ts'
import { formatTime } from '../../kube/time-format.ts'
import { generationsOf } from '../../rollover/readiness-facts.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { wholeNumber } from '../number-option.ts'
import { printable } from '../printable.ts'
import { withApi } from '../with-api.ts'
import { addRole, bridgeOf } from './role-option.ts'

interface StartFlags extends ConnectionFlags {
  reason: RotationReason
  approvals: number
  offline?: 'Wait' | 'ExcludeAfter' | 'Block'
  timing: string[]
  proof: string[]
}

export function register(ca: Command, io: CommandIo): void {
  const start = ca
    .command('start')
    .description('begin to change a CA; `rollcall ca status` shows how far it is')
    .addOption(
      new Option('--reason <reason>', 'why')
        .choices(['Scheduled', 'Algorithm', 'Split'])
        .default('Scheduled'),
    )
    .option(
      '--approvals <n>',
      'people other than you who must approve before the old CA is dropped',
      wholeNumber(0, 8),
      0,
    )
    .addOption(
      new Option('--offline <policy>', 'consumers that are away').choices(['Wait', 'ExcludeAfter', 'Block']),
    )
    .option(
      '--timing <name=duration>',
      'another time than the default, e.g. quiet=10m; may be repeated',
      collect,
      [],
    )
    .option(
      '--proof <kind=level>',
      'a kind of consumers of which that level is enough, e.g. Scheduler=2: a process that is newer than its file; may be repeated',
      collect,
      [],
    )
  addConnectionOptions(addRole(start)).action((role: TrustRole, flags: StartFlags) => begin(role, flags, io))

  const emergency = ca
    .command('emergency')
    .description('the key of a CA is stolen: distrust it first, whoever is cut off')
    .requiredOption(
      '--confirm <reason>',
      'that you have seen who will be cut off (`rollcall ca readiness`), and why it must be',
    )
  addConnectionOptions(addRole(emergency)).action(
    (role: TrustRole, flags: ConnectionFlags & { confirm: string }) =>
      begin(role, { ...flags, reason: 'Compromise', approvals: 0, timing: [], proof: [] }, io, flags.confirm),
  )
}

const collect = (text: string, before: string[]) => [...before, text]

async function begin(role: TrustRole, flags: StartFlags, io: CommandIo, confirmed?: string): Promise<void> {
  const timings = timingsOf(flags.timing)
  const minimumProof = proofsOf(flags.proof)
  await withApi(io, flags, async ({ client }) => {
    const [author = '', rotations] = await Promise.all([
      whoAmI(client),
      listAll<CARotationObject>(client, caRotation.ref),
    ])
    const { from, to: next, running } = generationsOf(role, rotations.items)
    if (running !== undefined && flags.reason !== 'Compromise')
      throw new RollcallError('USAGE', `Rotation ${running} of ${role} is not over; one at a time.`)
    // The CA that was on its way is the one that is trusted already.
    const underWay = rotations.items.find(({ metadata }) => metadata.name === running)?.spec.to
    const to = underWay ?? next
    const name = underWay === undefined ? `${role}-${to}` : `${role}-${to}-emergency`
    const at = formatTime(io.clock.now())
    await client.create<CARotationObject>(caRotation.ref, {
      apiVersion: 'rollcall.dev/v1alpha1',
      kind: 'CARotation',
      metadata: { name },
      spec: {
        role,
        reason: flags.reason,
        from,
        to,
        author,
        policy: {
          bridge: flags.reason === 'Compromise' ? 'None' : bridgeOf(role),
          approvals: flags.approvals,
          ...(flags.offline && { offline: flags.offline }),
          timings,
          ...(flags.proof.length > 0 && { minimumProof }),
        },
        ...(confirmed !== undefined && { confirmation: { by: author, reason: confirmed, at } }),
      },
    })
    io.stdout(`${printable(name)} begins: CA ${from} of ${role} gives way to CA ${to}\n`)
  })
}

function proofsOf(texts: readonly string[]): Partial<Record<ConsumerKind, ProofLevel>> {
  const entries = texts.map(text => {
    const [name, level] = text.split('=')
    const kind = consumerKinds.find(known => known === name)
    if (kind === undefined || !/^[123]$/.test(level ?? ''))
      throw new RollcallError(
        'USAGE',
        `--proof ${text}: give one of ${consumerKinds.join(', ')} and 1, 2 or 3`,
      )
    return [kind, Number(level)]
  })
  return Object.fromEntries(entries) as Partial<Record<ConsumerKind, ProofLevel>>
}

function timingsOf(texts: readonly string[]): RotationTimings {
  const entries = texts.map(text => {
    const [name = '', duration] = text.split('=')
    if (!(name in rotationTimings) || duration === undefined)
      throw new RollcallError(
        'USAGE',
        `--timing ${text}: give one of ${Object.keys(rotationTimings).join(', ')} and a duration`,
      )
    return [name, duration]
  })
  return Object.fromEntries(entries) as RotationTimings
}
