import { type Command, Option } from 'commander'
import { parseGoDuration } from '../cluster/go-duration.ts'
import { RollcallError } from '../errors.ts'
import { encodeRenewal, type OrderedKind, orderedKinds, renewalAnnotation } from '../hold/renewal-order.ts'
import { type KubeClient, listAll } from '../kube/client.ts'
import { type KubeNode, resources } from '../kube/types.ts'
import { type Clock, sleep } from '../ports.ts'
import { waveSize, wavesOf } from '../survey/renewal-waves.ts'
import type { CommandIo, ConnectionFlags } from './command-io.ts'
import { addConnectionOptions } from './connect-kubeconfig.ts'
import { printable } from './printable.ts'
import { gatherSurvey } from './status.ts'
import { withApi } from './with-api.ts'

interface RenewFlags extends ConnectionFlags {
  selector?: string
  all?: boolean
  kind: OrderedKind | 'both'
  wave: string
  pause: string
  timeout: string
}

/** Milliseconds between looks. */
const lookEvery = 1000

export function register(program: Command, io: CommandIo): void {
  const command = program
    .command('renew')
    .argument('[nodes...]', 'these nodes')
    .description(
      'have nodes renew their certificates now, in waves; stops at the first wave that does not come back',
    )
    .option('-l, --selector <selector>', 'the nodes with these labels')
    .option('--all', 'every node')
    .addOption(
      new Option('--kind <kind>', 'which certificate').choices([...orderedKinds, 'both']).default('both'),
    )
    .option('--wave <size>', 'how many at a time, a number or a share of them', '10%')
    .option('--pause <duration>', 'between two waves', '30s')
    .option('--timeout <duration>', 'how long a wave may take', '5m')
  addConnectionOptions(command).action((names: string[], flags: RenewFlags) =>
    withApi(io, flags, ({ client }) => renew(client, io, names, flags)),
  )
}

async function renew(client: KubeClient, io: CommandIo, names: string[], flags: RenewFlags): Promise<void> {
  const { clock } = io
  const nodes = await chosen(client, names, flags)
  const size = waveSize(flags.wave, nodes.length)
  if (size === undefined)
    throw usage(`--wave: ${flags.wave} is neither a number of nodes nor a share like 10%`)
  const pause = parseGoDuration(flags.pause, '--pause') * 1000
  const timeout = parseGoDuration(flags.timeout, '--timeout') * 1000
  const kinds = flags.kind === 'both' ? orderedKinds : [flags.kind]
  const waves = wavesOf(nodes, size)
  let done = 0
  for (const [index, wave] of waves.entries()) {
    if (index > 0) await sleep(clock, pause)
    const before = await serials(client, clock)
    // Certificates and orders tell whole seconds: what was issued until now is of before the next one.
    const order = (Math.floor(clock.now() / 1000) + 1) * 1000
    await sleep(clock, order - clock.now())
    for (const name of wave) await give(client, name, kinds, order)
    const late = await awaited(client, clock, { wave, kinds, before, timeout })
    if (late.length > 0) {
      const left = nodes.length - done - wave.length
      throw new RollcallError(
        'RENEWAL_STOPPED',
        `wave ${index + 1} of ${waves.length} did not come back in ${flags.timeout}: ${late.map(printable).join('; ')}. ${left} nodes were not asked. See rollcall doctor --node NAME; only Rollcall's agent obeys.`,
        { wave: index + 1, late },
      )
    }
    done += wave.length
    io.stdout(
      `wave ${index + 1}/${waves.length}  ${done}/${nodes.length} nodes renewed  ${printable(shown(wave))}\n`,
    )
  }
}

const shown = (names: readonly string[]) =>
  names.length > 3 ? `${names.slice(0, 3).join(' ')} and ${names.length - 3} more` : names.join(' ')

async function chosen(client: KubeClient, names: string[], { selector, all }: RenewFlags): Promise<string[]> {
  if ([names.length > 0, selector !== undefined, all].filter(Boolean).length !== 1)
    throw usage('give names of nodes, --selector or --all, and only one of them')
  const { items } = await listAll<KubeNode>(client, resources.nodes, {
    ...(selector !== undefined && { labelSelector: selector }),
  })
  const there = items.map(({ metadata }) => metadata.name).sort()
  const missing = names.find(name => !there.includes(name))
  if (missing !== undefined) throw usage(`there is no node ${JSON.stringify(missing)}`)
  const wanted = names.length > 0 ? [...new Set(names)] : there
  if (wanted.length === 0) throw usage('no node has these labels')
  return wanted
}

function give(
  client: KubeClient,
  name: string,
  kinds: readonly OrderedKind[],
  order: number,
): Promise<KubeNode> {
  const annotations = Object.fromEntries(kinds.map(kind => [renewalAnnotation(kind), encodeRenewal(order)]))
  return client.patch<KubeNode>(resources.nodes, { name }, 'merge', { metadata: { annotations } })
}

/** Serial numbers of the newest certificates, by kind and node: they need no clocks that agree. */
async function serials(client: KubeClient, clock: Clock): Promise<Map<string, string>> {
  const { nodes } = await gatherSurvey(client, clock.now())
  const known = nodes.flatMap(node =>
    orderedKinds.flatMap(kind => {
      const certificate = node[kind]
      return certificate ? [[`${kind} ${node.name}`, certificate.serialNumber] as const] : []
    }),
  )
  return new Map(known)
}

/** What keeps nodes of the wave when the time is over; none: every one holds what was ordered, and is Ready. */
async function awaited(
  client: KubeClient,
  clock: Clock,
  of: {
    wave: readonly string[]
    kinds: readonly OrderedKind[]
    before: ReadonlyMap<string, string>
    timeout: number
  },
): Promise<string[]> {
  const began = clock.monotonic()
  for (;;) {
    const survey = await gatherSurvey(client, clock.now())
    const late = of.wave.flatMap(name => {
      const node = survey.nodes.find(each => each.name === name)
      if (!node) return [`${name} is gone`]
      if (node.readiness !== 'Ready') return [`${name} is ${node.readiness}`]
      const old = of.kinds.filter(kind => {
        const serial = node[kind]?.serialNumber
        return serial === undefined || serial === of.before.get(`${kind} ${name}`)
      })
      return old.length > 0 ? [`${name} has no new ${old.join(' and ')} certificate`] : []
    })
    if (late.length === 0 || clock.monotonic() - began >= of.timeout) return late
    await sleep(clock, lookEvery)
  }
}

const usage = (message: string) => new RollcallError('USAGE', message)
