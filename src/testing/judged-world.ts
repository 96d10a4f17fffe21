/** A small cluster for property tests: Nodes that edit themselves, requests that are judged, certificates that live. */
import { AddressIndex } from '../approve/address-index.ts'
import { CertifiedIndex } from '../approve/certified-addresses.ts'
import { Inventory } from '../approve/inventory/inventory.ts'
import { judge } from '../approve/judge.ts'
import type { ApprovalPolicy } from '../approve/policy.ts'
import type { Verdict } from '../approve/verdict.ts'
import type { KubeNode } from '../kube/types.ts'
import { bothGroups } from './judged-cases.ts'
import { createdAt, createdNode, nodeNamed, sans, servingFacts, withSubject } from './judged-request.ts'

export type Act =
  | { do: 'register' | 'list'; node: string; addresses: readonly string[]; podCidr?: string | undefined }
  | { do: 'delete'; node: string }
  /** Without addresses it asks for all that its Node lists, as a kubelet does. */
  | { do: 'ask'; node: string; addresses: readonly string[] }
  | { do: 'wait'; hours: number }
  | { do: 'require'; evidence: ApprovalPolicy['evidence'] }
  | { do: 'inventory'; addresses: Readonly<Record<string, readonly string[]>> }

export interface Certified {
  node: string
  address: string
  /** Milliseconds since the epoch. */
  until: number
  /** It was given although somebody else held it, by stronger evidence, and that was told. */
  told: boolean
}

export interface Judged {
  node: string
  verdict: Verdict
  /** What was required and what proved it at that moment. */
  required: ApprovalPolicy['evidence']
  listed: readonly string[]
  inventoried: readonly string[]
  asked: readonly string[]
}

const hour = 3_600_000
/** Milliseconds; certificates outlive a few acts. */
const lifetime = 8 * hour

export class JudgedWorld {
  readonly certificates: Certified[] = []
  readonly judged: Judged[] = []
  readonly nodes = new Map<string, KubeNode>()
  now = createdAt
  readonly #claims = new AddressIndex()
  readonly #certified = new CertifiedIndex()
  readonly #inventory = new Inventory('inventory')
  #assigned: Readonly<Record<string, readonly string[]>> = {}
  #evidence: ApprovalPolicy['evidence'] = 'NodeStatus'
  #acts = 0

  constructor() {
    this.#inventory.read(new Map())
  }

  act(act: Act): void {
    this.#acts++
    switch (act.do) {
      case 'register':
      case 'list':
        this.#list(act)
        break
      case 'delete':
        this.#claims.remove(act.node)
        this.nodes.delete(act.node)
        break
      case 'wait':
        this.now += act.hours * hour
        break
      case 'require':
        this.#evidence = act.evidence
        break
      case 'inventory':
        this.#assign(act.addresses)
        break
      case 'ask':
        this.judged.push(this.#ask(act.node, act.addresses))
    }
  }

  /** Certificates that are valid now and whose Node is there. */
  live(): Certified[] {
    return this.certificates.filter(({ node, until }) => until > this.now && this.nodes.has(node))
  }

  #list({ do: how, node, addresses, podCidr }: Extract<Act, { podCidr?: string | undefined }>): void {
    const before = this.nodes.get(node)
    if ((how === 'register') === Boolean(before)) return
    const created = before ? Date.parse(before.metadata.creationTimestamp ?? '') : this.now
    const fresh = nodeNamed(node, Object.fromEntries(addresses.map(address => [address, 'InternalIP'])))
    const spec = before?.spec ?? (podCidr ? { podCIDR: podCidr } : {})
    const next = createdNode({ ...fresh, spec }, created)
    this.nodes.set(node, next)
    this.#claims.set(next, this.#acts)
  }

  #assign(addresses: Readonly<Record<string, readonly string[]>>): void {
    this.#assigned = addresses
    const entries = Object.entries(addresses).map(
      ([node, list]) =>
        [node, [{ names: new Set([node]), addresses: new Set(list), attributes: {} }]] as const,
    )
    this.#inventory.read(new Map(entries))
  }

  #ask(node: string, wanted: readonly string[]): Judged {
    const listed = this.nodes.get(node)?.status?.addresses?.map(({ address }) => address) ?? []
    const addresses = wanted.length > 0 ? wanted : listed
    const facts = servingFacts({
      spec: { username: `system:node:${node}`, groups: bothGroups },
      asked: { ...withSubject(`system:node:${node}`).asked, subjectAltName: sans([], [...addresses]) },
      nodes: [...this.nodes.values()],
      claims: this.#claims,
      certified: this.#certified,
      evidence: [this.#inventory],
      policy: { evidence: this.#evidence, allowedRanges: [], inventory: { file: 'i' } },
      now: this.now,
    })
    const metadata = { name: 'c', creationTimestamp: new Date(this.now).toISOString() }
    const verdict = judge({ ...facts, csr: { ...facts.csr, metadata } })
    if (verdict.outcome === 'Approve') this.#certify(node, addresses, verdict)
    const inventoried = this.#assigned[node] ?? []
    return { node, verdict, required: this.#evidence, listed, inventoried, asked: addresses }
  }

  #certify(node: string, addresses: readonly string[], { reasons }: Verdict): void {
    const until = this.now + lifetime
    this.#certified.add(node, addresses, until)
    for (const address of new Set(addresses)) {
      const told = reasons.some(
        ({ code, message }) => code === 'HeldElsewhere' && message.includes(`${address} `),
      )
      this.certificates.push({ node, address, until, told })
    }
  }
}
