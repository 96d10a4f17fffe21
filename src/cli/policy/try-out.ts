import type { Command } from 'commander'
import { Inventory } from '../../approve/inventory/inventory.ts'
import type { ApprovalPolicy } from '../../approve/policy.ts'
import { parsePolicies } from '../../approve/policy-document.ts'
import { policyOf } from '../../approve/policy-presets.ts'
import { kindOf } from '../../approve/rules/our-signer.ts'
import { clusterSurroundings, storedPolicy } from '../../doctor/requests/cluster-surroundings.ts'
import { judgeAgain, type Surroundings, sourcesElsewhere } from '../../doctor/requests/judging.ts'
import { RollcallError } from '../../errors.ts'
import { type KubeClient, listAll } from '../../kube/client.ts'
import { policyInForce } from '../../kube/rollcall/certificate-policy.ts'
import { type CertificateSigningRequest, resources } from '../../kube/types.ts'
import type { CommandIo, ConnectionFlags } from '../command-io.ts'
import { addConnectionOptions } from '../connect-kubeconfig.ts'
import { addOutputOption, type OutputFormat, print } from '../output.ts'
import { printable } from '../printable.ts'
import { type Column, formatTable } from '../table.ts'
import { withApi } from '../with-api.ts'
import { type Compared, compared, exitCodeOf } from './comparison.ts'
import { readInventoryFile, readNodes, readRequests, readText } from './read-files.ts'

interface TestFlags extends ConnectionFlags {
  file: string
  name?: string
  csr?: string[]
  node?: string[]
  inventory?: string
  history?: boolean
  output: OutputFormat
}

export function register(policy: Command, io: CommandIo): void {
  const command = policy
    .command('test')
    .requiredOption('-f, --file <file>', 'the policy to try out')
    .option('--name <name>', `which policy of the file; default: ${policyInForce}, or the only one`)
    .option('--csr <file...>', 'requests to judge: CertificateSigningRequests, or a PEM that a kubelet made')
    .option('--node <file...>', 'the Nodes that there are')
    .option('--inventory <file>', 'the inventory that the policy names')
    .option('--history', 'judge the requests that the cluster has stored, and print what would change')
    .description(
      'judge requests by a policy, offline or against those of a cluster (exit 3: something is not approved or would change, 4: not everything could be judged)',
    )
  addOutputOption(addConnectionOptions(command)).action(async (flags: TestFlags) => {
    const tried = choose(parsePolicies(await readText(flags.file), flags.file), flags)
    if (Boolean(flags.history) === Boolean(flags.csr))
      throw new RollcallError('USAGE', 'give either --csr FILE or --history.')
    const now = io.clock.now()
    const { results, unchecked } = flags.history
      ? await withApi(io, flags, ({ client }) => againstHistory(client, tried, now))
      : await offline(tried, flags, now)
    report(io, flags, results, unchecked)
  })
}

function choose(documents: ReturnType<typeof parsePolicies>, { name, file }: TestFlags): ApprovalPolicy {
  const [only, ...more] = documents
  const found = documents.find(document => document.name === (name ?? policyInForce))
  const chosen = found ?? (name === undefined && more.length === 0 ? only : undefined)
  if (!chosen) throw new RollcallError('USAGE', `${file} holds no policy named ${name ?? policyInForce}.`)
  return policyOf(chosen.spec)
}

interface Results {
  results: Compared[]
  unchecked: readonly string[]
}

async function offline(policy: ApprovalPolicy, flags: TestFlags, now: number): Promise<Results> {
  const nodes = (await Promise.all((flags.node ?? []).map(readNodes))).flat()
  const requests = (await Promise.all((flags.csr ?? []).map(readRequests))).flat()
  const inventory = flags.inventory === undefined ? absent() : await readInventoryFile(flags.inventory)
  const surroundings: Surroundings = {
    nodes,
    // Whether there is one, files do not say.
    protection: { inForce: true, since: Number.NEGATIVE_INFINITY },
    evidence: asked => [...(asked?.inventory ? [inventory] : []), ...sourcesElsewhere(asked)],
    unchecked: [],
  }
  const again = judgeAgain(surroundings, now, true)
  const asIfProtected = { ...policy, trustOlderNodes: true }
  return { results: requests.map(csr => compared(csr, undefined, again(csr, asIfProtected))), unchecked: [] }
}

function absent(): Inventory {
  const inventory = new Inventory('inventory')
  inventory.lose('was not given: --inventory FILE')
  return inventory
}

async function againstHistory(client: KubeClient, policy: ApprovalPolicy, now: number): Promise<Results> {
  const current = await storedPolicy(client)
  const surroundings = await clusterSurroundings(client, [current, policy])
  const { items } = await listAll<CertificateSigningRequest>(client, resources.certificateSigningRequests)
  const again = judgeAgain(surroundings, now, false)
  const ours = items.filter(csr => kindOf(csr) !== undefined)
  const results = ours.map(csr => compared(csr, again(csr, current), again(csr, policy)))
  return { results, unchecked: surroundings.unchecked }
}

function report(
  io: CommandIo,
  { output, history }: TestFlags,
  results: readonly Compared[],
  unchecked: readonly string[],
): void {
  const shown = history ? results.filter(({ differs }) => differs) : results
  print(io, output, {
    text: wide =>
      (shown.length > 0 ? formatTable(history ? changeColumns : verdictColumns, shown, wide) : '') +
      (history ? `${shown.length} of ${results.length} stored requests would be judged otherwise\n` : '') +
      unchecked.map(what => `unchecked: ${printable(what)}\n`).join(''),
    value: { results, unchecked },
  })
  io.exitWith(exitCodeOf(results, unchecked))
}

const verdictColumns: Column<Compared>[] = [
  { title: 'request', cell: ({ request }) => request },
  { title: 'node', cell: ({ node }) => node },
  { title: 'verdict', cell: ({ after }) => `${after.outcome} ${after.code}` },
  { title: 'why', cell: ({ after }) => after.message },
]

const changeColumns: Column<Compared>[] = [
  { title: 'request', cell: ({ request }) => request },
  { title: 'node', cell: ({ node }) => node },
  { title: 'decided', cell: ({ decided }) => decided || 'pending' },
  { title: 'now', cell: ({ before }) => (before ? `${before.outcome} ${before.code}` : '') },
  { title: 'would be', cell: ({ after }) => `${after.outcome} ${after.code}` },
  { title: 'why', cell: ({ after }) => after.message },
]
