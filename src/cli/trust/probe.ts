/** Whether a fresh machine, with what each place hands out, would come through to each endpoint. */
import type { Command } from 'commander'
import { dial, type Endpoint } from '../../cluster/rollover/dial.ts'
import { readClusterInfo } from '../../doctor/gather/trust.ts'
import { RollcallError } from '../../errors.ts'
import type { KubeClient } from '../../kube/client.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { formatTable } from '../table.ts'
import { withApi } from '../with-api.ts'
import { type RolloverPlaces, readRolloverPlaces } from './rollover-places.ts'
import { type Bundle, generationOf, type ReadSink, readSinks, signedForServers } from './sinks.ts'

interface Flags extends ConnectionFlags {
  endpoint: string[]
  file: string[]
  rollover?: string
  output: OutputFormat
}

export interface Probe {
  /** A place that hands out trust, or a signed bundle. */
  source: string
  /** The signed bundle that it holds; absent: none of them. */
  generation?: number
  endpoint: string
  trusted: boolean
  why?: string
}

export function register(trust: Command, io: CommandIo): void {
  const collect = (text: string, before: string[]) => [...before, text]
  const probe = trust
    .command('probe')
    .description(
      'dial each endpoint as a fresh machine would, with what each place and each signed bundle says',
    )
    .option('--endpoint <host:port>', 'another endpoint, e.g. a load balancer; may be repeated', collect, [])
    .option('--file <pem>', 'another place: a PEM file of CAs; may be repeated', collect, [])
    .option(
      '--rollover <file>',
      'the places and API servers of a file of `rollcall controller --rollover`, too',
    )
  addOutputOption(addConnectionOptions(probe)).action(async (flags: Flags) => {
    const { probes, unread } = await withApi(io, flags, ({ client, server }) =>
      probeAll(client, server, flags, io),
    )
    print(io, flags.output, {
      text: () =>
        formatTable(columns, probes) + unread.map(({ name, problem }) => `${name}: ${problem}\n`).join(''),
      value: { probes, unread },
    })
    // A signed bundle that does not prove what is served is no fault: the next one is meant to.
    const places = probes.filter(({ source }) => !source.startsWith('bundle '))
    const served = new Set(probes.flatMap(({ trusted, endpoint }) => (trusted ? endpoint : [])))
    if (places.some(({ trusted }) => !trusted)) io.exitWith(3)
    else if (unread.length > 0 || served.size === 0) io.exitWith(4)
  })
}

const columns = [
  { title: 'source', cell: ({ source }: Probe) => source },
  { title: 'bundle', cell: ({ generation }: Probe) => (generation === undefined ? '-' : `${generation}`) },
  { title: 'endpoint', cell: ({ endpoint }: Probe) => endpoint },
  { title: 'proven', cell: ({ trusted, why }: Probe) => (trusted ? 'yes' : `no: ${why}`) },
]

async function probeAll(client: KubeClient, server: string, flags: Flags, io: CommandIo) {
  const [bundles, sinks, files, named] = await Promise.all([
    signedForServers(client),
    readSinks(client),
    readFiles(flags.file),
    flags.rollover === undefined ? nothingNamed : readRolloverPlaces(client, flags.rollover),
  ])
  const endpoints = await endpointsOf(client, server, [...flags.endpoint, ...named.endpoints])
  const all = [...sinks, ...files, ...named.sinks]
  const sources = [
    ...all.flatMap(({ name, pem }) =>
      pem === undefined ? [] : [{ source: name, pem, ...numbered(pem, bundles) }],
    ),
    ...bundles.map(({ generation, pem }) => ({ source: `bundle ${generation}`, pem, generation })),
  ]
  const probes: Probe[] = []
  for (const { pem, ...source } of sources)
    for (const [name, endpoint] of endpoints) {
      const why = await dial(endpoint, pem, io.clock)
      probes.push({
        ...source,
        endpoint: name,
        trusted: why === undefined,
        ...(why !== undefined && { why }),
      })
    }
  const unread = all.filter(({ pem }) => pem === undefined)
  return { probes, unread }
}

const nothingNamed: RolloverPlaces = { sinks: [], endpoints: [] }

function numbered(pem: string, bundles: readonly Bundle[]): { generation?: number } {
  const generation = generationOf(pem, bundles)
  return generation === undefined ? {} : { generation }
}

async function readFiles(paths: readonly string[]): Promise<ReadSink[]> {
  if (paths.length === 0) return []
  const { readFile } = await import('./roots.ts')
  return Promise.all(paths.map(async path => ({ name: path, pem: await readFile(path) })))
}

/** The server of the kubeconfig, the one that joiners are told, and those that were asked for. */
async function endpointsOf(
  client: KubeClient,
  server: string,
  asked: readonly string[],
): Promise<Map<string, Endpoint>> {
  const info = await readClusterInfo(client).catch(() => undefined) // that it cannot be read, its own line says
  const urls = [server, ...(info?.server ? [info.server] : []), ...asked.map(text => `https://${text}`)]
  return new Map(
    urls.map(url => {
      const endpoint = endpointOf(url)
      return [`${endpoint.host}:${endpoint.port}`, endpoint]
    }),
  )
}

function endpointOf(url: string): Endpoint {
  if (!URL.canParse(url)) throw new RollcallError('USAGE', `${url} is no endpoint; give HOST:PORT.`)
  const { hostname, port } = new URL(url)
  return { host: hostname.replace(/^\[|\]$/g, ''), port: Number(port || 443) }
}
