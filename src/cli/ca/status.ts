import type { Command } from 'commander'
import { consumersFor, roleObjects } from '../../dashboard/role-consumers.ts'
import type { CARotationObject } from '../../kube/rollcall/ca-rotation.ts'
import { sleep } from '../../ports.ts'
import type { HistoryEntry } from '../../rollover/history.ts'
import type { RoleObjects } from '../../rollover/readiness-facts.ts'
import { planOf } from '../../rollover/rotation-object.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { printable } from '../printable.ts'
import { formatTable } from '../table.ts'
import { withApi } from '../with-api.ts'

/** Milliseconds between two looks with --watch. */
const lookEvery = 1000
const over = new Set(['Done', 'Aborted', 'RolledBack'])

export function register(ca: Command, io: CommandIo): void {
  const command = ca
    .command('status')
    .argument('[name]', 'one rotation, with its gates and what keeps them closed')
    .description('show where rotations stand')
    .option('--watch', 'go on until it is over')
  addOutputOption(addConnectionOptions(command)).action(
    async (name: string | undefined, flags: ConnectionFlags & { output: OutputFormat; watch?: boolean }) => {
      let shown = ''
      for (;;) {
        // A connection that lasted would go on presenting the certificate of before, which the rotation waits for.
        const objects = await withApi(io, flags, ({ client }) => roleObjects(client))
        const rotations = objects.rotations
          .filter(({ metadata }) => name === undefined || metadata.name === name)
          .map(rotation => withConsumers(rotation, objects, io.clock.now()))
        const text = name === undefined ? table(rotations) : rotations.map(details).join('')
        if (text !== shown)
          print(io, flags.output, { text: () => text || 'there is no such rotation\n', value: rotations })
        shown = text
        if (!flags.watch || rotations.every(({ status }) => over.has(status?.phase ?? ''))) return
        await sleep(io.clock, lookEvery)
      }
    },
  )
}

/** While it is under way: everybody who verifies by the CA, and how each stands. */
type Shown = CARotationObject & Partial<ReturnType<typeof consumersFor>>

function withConsumers(rotation: CARotationObject, objects: RoleObjects, now: number): Shown {
  if (over.has(rotation.status?.phase ?? '')) return rotation
  return { ...rotation, ...consumersFor(planOf(rotation, now), objects, now) }
}

function table(rotations: readonly CARotationObject[]): string {
  return formatTable(
    [
      { title: 'name', cell: ({ metadata }) => metadata.name },
      { title: 'role', cell: ({ spec }) => spec.role },
      { title: 'from', cell: ({ spec }) => String(spec.from) },
      { title: 'to', cell: ({ spec }) => String(spec.to) },
      { title: 'phase', cell: ({ status }) => status?.phase ?? '' },
      { title: 'waits for', cell: ({ status }) => status?.proven ?? '' },
      { title: 'blocker', cell: ({ status }) => status?.blockers?.[0] ?? '' },
    ],
    rotations,
  )
}

function details({ metadata, spec, status, consumers }: Shown): string {
  const { history = [] } = (status?.state ?? {}) as { history?: HistoryEntry[] }
  const gates = (status?.gates ?? []).map(gate => {
    const names = gate.blockers.length > 0 ? `  ${gate.blockers.join(', ')}` : ''
    return `  ${gate.open ? 'open  ' : 'closed'} ${gate.name} ${gate.proven}/${gate.total}${names}`
  })
  const steps = history.map(
    ({ at, from, to, reason }) => `  ${new Date(at).toISOString()} ${from} -> ${to}: ${reason}`,
  )
  const blockers = (status?.blockers ?? []).map(text => `  ${text}`)
  const unproven = (consumers ?? []).filter(({ verdict }) => verdict !== 'Proven' && verdict !== 'Excluded')
  const missing = unproven.map(({ id, verdict, why }) => `  ${id}: ${verdict}, ${why}`)
  const part = (title: string, lines: readonly string[]) => (lines.length > 0 ? [`${title}:`, ...lines] : [])
  const lines = [
    `${metadata.name}: CA ${spec.from} -> ${spec.to} of ${spec.role}, ${status?.phase ?? 'not begun'}`,
    ...part('gates', gates),
    ...part('blockers', blockers),
    ...part('have not proven', missing),
    ...part('history', steps),
  ]
  return `${lines.map(printable).join('\n')}\n`
}
