/** What people say to a rotation that is under way; the controller reads it at its next turn. */
import type { Command } from 'commander'
import { whoAmI } from '../../doctor/requests/who-am-i.ts'
import { isStatus } from '../../kube/client.ts'
import { type CARotationObject, caRotation, type Statement } from '../../kube/rollcall/ca-rotation.ts'
import { formatTime } from '../../kube/time-format.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { printable } from '../printable.ts'
import { withApi } from '../with-api.ts'

/** Times that somebody else may be faster. */
const mostTries = 20

type Spec = CARotationObject['spec']

export function register(ca: Command, io: CommandIo): void {
  wish(ca, io, 'pause', 'stop it where it is; only what gives trust back goes on', () => ({ pause: true }))
  wish(ca, io, 'resume', 'go on after a pause, whoever began it', ({ status }) => ({
    pause: false,
    resume: status?.sequence ?? 0,
  }))
  wish(ca, io, 'rollback', 'go back to the old CA, as carefully as forward', () => ({
    rollback: true,
    pause: false,
  }))
  statement(
    ca,
    io,
    'approve',
    undefined,
    'approve that the old CA is dropped; not by the author',
    (spec, said) => ({
      approvals: [...(spec.approvals ?? []), said],
    }),
  )
  statement(
    ca,
    io,
    'exclude',
    'consumers',
    'leave consumers behind, by name and with a reason',
    (spec, said, consumers) => ({
      exclusions: [...(spec.exclusions ?? []), ...consumers.map(consumer => ({ ...said, consumer }))],
    }),
  )
  statement(
    ca,
    io,
    'ack',
    'consumers',
    'vouch that consumers which cannot be probed trust the new CA; not by the author',
    (spec, said, consumers) => ({
      acknowledgements: [
        ...(spec.acknowledgements ?? []),
        ...consumers.map(consumer => ({ ...said, consumer })),
      ],
    }),
  )
}

function wish(
  ca: Command,
  io: CommandIo,
  verb: string,
  description: string,
  change: (rotation: CARotationObject) => Partial<Spec>,
): void {
  const command = ca.command(verb).argument('<name>', 'the rotation').description(description)
  addConnectionOptions(command).action((name: string, flags: ConnectionFlags) =>
    write(io, flags, name, verb, rotation => change(rotation)),
  )
}

function statement(
  ca: Command,
  io: CommandIo,
  verb: string,
  about: string | undefined,
  description: string,
  change: (spec: Spec, said: Statement, consumers: readonly string[]) => Partial<Spec>,
): void {
  const command = ca.command(verb).argument('<name>', 'the rotation').description(description)
  if (about !== undefined) command.argument(`<${about}...>`, 'as `rollcall ca status` names them')
  command.requiredOption('--reason <text>', 'why; it stays in the object')
  addConnectionOptions(command).action(async (...args: unknown[]) => {
    const [name, second] = args as [string, string[]]
    const flags = command.opts<ConnectionFlags & { reason: string }>()
    const consumers = about === undefined ? [] : second
    const at = formatTime(io.clock.now())
    await write(io, flags, name, verb, (rotation, by) =>
      change(rotation.spec, { by, reason: flags.reason, at }, consumers),
    )
  })
}

async function write(
  io: CommandIo,
  flags: ConnectionFlags,
  name: string,
  verb: string,
  change: (rotation: CARotationObject, by: string) => Partial<Spec>,
): Promise<void> {
  await withApi(io, flags, async ({ client }) => {
    const by = (await whoAmI(client)) ?? ''
    for (let tries = 1; ; tries += 1) {
      const rotation = await client.get<CARotationObject>(caRotation.ref, { name })
      const spec = { ...rotation.spec, ...change(rotation, by) }
      try {
        // By its version: two people who speak at once must not overwrite each other. The controller writes often.
        await client.update(caRotation.ref, { ...rotation, spec })
        break
      } catch (error) {
        if (!isStatus(error, 'Conflict') || tries >= mostTries) throw error
      }
    }
    io.stdout(`${printable(name)}: ${verb}, by ${printable(by)}\n`)
  })
}
