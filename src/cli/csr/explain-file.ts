/** `csr explain -f`: what would become of a request that nobody has made yet, by files alone. */
import { Inventory } from '../../approve/inventory/inventory.ts'
import type { ApprovalPolicy } from '../../approve/policy.ts'
import { parsePolicies } from '../../approve/policy-document.ts'
import { policyOf } from '../../approve/policy-presets.ts'
import { readRequest } from '../../approve/read-request.ts'
import { kindOf } from '../../approve/rules/our-signer.ts'
import { subjectNode } from '../../approve/subject-node.ts'
import type { Verdict } from '../../approve/verdict.ts'
import { judgeAgain, type Surroundings } from '../../doctor/requests/judging.ts'
import { type Review, reviewBeside } from '../../doctor/requests/review.ts'
import { RollcallError } from '../../errors.ts'
import { policyInForce } from '../../kube/rollcall/certificate-policy.ts'
import type { CertificateSigningRequest, KubeNode } from '../../kube/types.ts'
import { readInventoryFile, readNodes, readRequests, readText } from '../policy/read-files.ts'
import { printable } from '../printable.ts'
import { alignColumns } from '../table.ts'
import { formatReview } from './show.ts'

export interface FileFlags {
  file: string
  node?: string[]
  policy?: string
  inventory?: string
}

/** What a policy is where none is given: the names must be on the Node. */
const standardPolicy: ApprovalPolicy = { evidence: 'NodeStatus', allowedRanges: [] }

export interface FileExplanation {
  review: Review
  verdict: Verdict
  /** What stands against or for it and was not given. */
  unchecked: string[]
}

/** `now` in milliseconds since the epoch. Throws USAGE naming the file that cannot be used. */
export async function explainFile(flags: FileFlags, now: number): Promise<FileExplanation> {
  const [csr, ...more] = await readRequests(flags.file)
  if (!csr || more.length > 0)
    throw new RollcallError(
      'USAGE',
      `${flags.file} holds more than one request; rollcall policy test takes several.`,
    )
  const nodes = (await Promise.all((flags.node ?? []).map(readNodes))).flat()
  const policy = flags.policy === undefined ? standardPolicy : await readPolicy(flags.policy)
  const inventory = flags.inventory === undefined ? undefined : await readInventoryFile(flags.inventory)
  const surroundings: Surroundings = {
    nodes,
    // Whether addresses are protected, files do not say.
    protection: { inForce: true, since: Number.NEGATIVE_INFINITY },
    evidence: asked => (asked?.inventory ? [inventory ?? missingInventory()] : undefined),
    unchecked: [],
  }
  const verdict = judgeAgain(surroundings, now, true)(csr, { ...policy, trustOlderNodes: true })
  return { review: reviewBeside(csr, nodeOf(csr, nodes)), verdict, unchecked: uncheckedFor(csr, flags) }
}

/** 3: it would not be approved; 4: it would be, if what was not given does not object. */
export const exitCodeOfFile = ({ verdict, unchecked }: FileExplanation) =>
  verdict.outcome !== 'Approve' ? 3 : unchecked.length > 0 ? 4 : 0

/** The request beside its Node, the verdict with its reasons, and each rule with what it said. */
export function formatFileExplanation({ review, verdict, unchecked }: FileExplanation, now: number): string {
  const { outcome, reasons, rules } = verdict
  const lines = [
    ...reasons.map(({ code, message }, index) => [
      index === 0 ? 'verdict' : '',
      `${outcome} ${code}`,
      message,
    ]),
    ...rules.flatMap(({ rule, sentence, outcome }, index) =>
      outcome === 'NotApplicable' ? [] : [[index === 0 ? 'rules' : '', `${outcome} ${rule}`, sentence]],
    ),
    ...unchecked.map((what, index) => [index === 0 ? 'unchecked' : '', what]),
  ]
  const beside =
    'who else holds its names and its key is known to the cluster alone: other Nodes, live certificates'
  return `${formatReview(review, now)}${alignColumns(lines.map(line => line.map(printable)))}${beside}\n`
}

function nodeOf(csr: CertificateSigningRequest, nodes: readonly KubeNode[]): KubeNode | undefined {
  const { request } = readRequest(csr)
  const name = request && subjectNode(request)
  return nodes.find(({ metadata }) => metadata.name === name)
}

async function readPolicy(path: string): Promise<ApprovalPolicy> {
  const documents = parsePolicies(await readText(path), path)
  const chosen = documents.find(({ name }) => name === policyInForce) ?? documents[0]
  if (!chosen) throw new RollcallError('USAGE', `${path} holds no policy.`)
  return policyOf(chosen.spec)
}

function missingInventory(): Inventory {
  const inventory = new Inventory('inventory')
  inventory.lose('was not given: --inventory FILE')
  return inventory
}

/** Without a cluster nobody knows these; each could stand against it. */
function uncheckedFor(csr: CertificateSigningRequest, { node, policy }: FileFlags): string[] {
  const client = kindOf(csr) === 'client'
  return [
    ...(policy === undefined ? ['the policy: --policy FILE; judged as if it asked for Node status'] : []),
    ...(client ? ['whether the requester may ask (SubjectAccessReview)'] : []),
    ...(node === undefined ? ['the Node: --node FILE'] : []),
  ]
}
