/** A small cluster for property tests: Nodes that edit themselves, requests that are judged, certificates that live. */
import { AddressIndex } from '../approve/address-index.ts'
import { CertifiedIndex } from '../approve/certified-addresses.ts'
import { strengthOf } from '../approve/evidence/level.ts'
import type { Protection } from '../approve/facts.ts'
import { Inventory } from '../approve/inventory/inventory.ts'
import { plainMachine } from '../approve/inventory/machine-record.ts'
import type { InventoryEntry } from '../approve/inventory/parse-inventory.ts'
import { parseRange } from '../approve/ip-range.ts'
import { judge } from '../approve/judge.ts'
import type { ApprovalPolicy, Pool } from '../approve/policy.ts'
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
  /** With pools: by the restricted label `pool`, by a rack of the inventory, or both. */
  | { do: 'require'; evidence: ApprovalPolicy['evidence']; pools?: readonly Pool[] }
  | {
      do: 'inventory'
      addresses: Readonly<Record<string, readonly string[]>>
      racks?: Readonly<Record<string, string>>
      /** Addresses that nodes may carry. */
      floating?: Readonly<Record<string, readonly string[]>>
    }
  /** An operator labels a Node; a node itself can set other labels only. */
  | { do: 'label'; node: string; pool: string; by: 'operator' | 'node' }
  /** Only operators write addresses from now on, or nodes again. */
  | { do: 'protect'; on: boolean }
  /** An operator writes the addresses. */
  | { do: 'assign'; node: string; addresses: readonly string[] }

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
  /** Of those listed, what an operator wrote while nodes could not. */
  assigned: readonly string[]
  inventoried: readonly string[]
  /** Of those listed, what the inventory lets it carry. */
  carried: readonly string[]
  asked: readonly string[]
}

/** What pools of this world select by. */
export const poolLabel = 'node-restriction.kubernetes.io/pool'
const attributesOf = (rack: string | undefined): Record<string, string> => (rack ? { rack } : {})

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
  #racks: Readonly<Record<string, string>> = {}
  #floating: Readonly<Record<string, readonly string[]>> = {}
  #evidence: ApprovalPolicy['evidence'] = 'NodeStatus'
  #pools: readonly Pool[] = []
  #protection: Protection = { inForce: false, why: 'nobody protects them' }
  /** Nodes whose addresses an operator wrote last, under the protection. */
  readonly #operatorWrote = new Set<string>()
  #acts = 0

  constructor() {
    this.#inventory.read(new Map())
  }

  act(act: Act): void {
    this.#acts++
    switch (act.do) {
      case 'register':
      case 'list':
        // Under the protection the API refuses both: a node can register without addresses.
        if (!this.#protection.inForce) this.#list(act)
        else if (act.do === 'register') this.#list({ ...act, addresses: [] })
        break
      case 'assign':
        this.#list({ ...act, do: 'list' })
        if (this.#protection.inForce) this.#operatorWrote.add(act.node)
        break
      case 'label':
        this.#label(act)
        break
      case 'protect':
        this.#protect(act.on)
        break
      case 'delete':
        this.#claims.remove(act.node)
        this.nodes.delete(act.node)
        this.#operatorWrote.delete(act.node)
        break
      case 'wait':
        this.now += act.hours * hour
        break
      case 'require':
        this.#evidence = act.evidence
        this.#pools = act.pools ?? []
        break
      case 'inventory':
        this.#assign(act)
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
    const labels = before?.metadata.labels ?? {}
    const next = createdNode({ ...fresh, spec, metadata: { ...fresh.metadata, labels } }, created)
    this.nodes.set(node, next)
    this.#claims.set(next, this.#acts)
    this.#operatorWrote.delete(node)
  }

  #label({ node, pool, by }: Extract<Act, { do: 'label' }>): void {
    const before = this.nodes.get(node)
    if (!before) return
    const label = by === 'operator' ? poolLabel : 'example.com/pool'
    const labels = { ...before.metadata.labels, [label]: pool }
    this.nodes.set(node, { ...before, metadata: { ...before.metadata, labels } })
  }

  #protect(on: boolean): void {
    if (!on) this.#operatorWrote.clear()
    if (on === this.#protection.inForce) return
    this.#protection = on ? { inForce: true, since: this.now } : { inForce: false, why: 'no binding' }
  }

  #assign({ addresses, racks = {}, floating = {} }: Extract<Act, { do: 'inventory' }>): void {
    this.#assigned = addresses
    this.#racks = racks
    this.#floating = floating
    const entry = (node: string): InventoryEntry => ({
      names: new Set([node]),
      addresses: new Set(addresses[node]),
      attributes: attributesOf(addresses[node] && racks[node]),
      floating: (floating[node] ?? []).map(text => parseRange(`${text}/${text.includes(':') ? 128 : 32}`)),
      machine: plainMachine,
    })
    const names = new Set([addresses, floating].flatMap(Object.keys))
    this.#inventory.read(new Map([...names].map(node => [node, [entry(node)]])))
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
      protection: this.#protection,
      policy: {
        evidence: this.#evidence,
        pools: this.#pools,
        allowedRanges: [],
        inventory: { file: 'i' },
      },
      now: this.now,
    })
    const metadata = { name: 'c', creationTimestamp: new Date(this.now).toISOString() }
    const verdict = judge({ ...facts, csr: { ...facts.csr, metadata } })
    if (verdict.outcome === 'Approve') this.#certify(node, addresses, verdict)
    const inventoried = this.#assigned[node] ?? []
    const assigned = this.#operatorWrote.has(node) ? listed : []
    const carried = listed.filter(address => this.#floating[node]?.includes(address))
    const required = this.#required(node)
    return { node, verdict, required, listed, assigned, inventoried, carried, asked: addresses }
  }

  /** Told apart from how the policy does it: the strictest of all pools that fit, else the policy's own. */
  #required(node: string): ApprovalPolicy['evidence'] {
    const label = this.nodes.get(node)?.metadata.labels?.[poolLabel]
    const rack = this.#assigned[node] ? this.#racks[node] : undefined
    const fits = this.#pools.filter(
      ({ nodeLabels, inventoryAttributes }) =>
        (!nodeLabels || nodeLabels[poolLabel] === label) &&
        (!inventoryAttributes || inventoryAttributes.rack === rack),
    )
    const levels = fits.map(({ evidence }) => evidence ?? this.#evidence)
    return levels.toSorted((a, b) => strengthOf(b) - strengthOf(a))[0] ?? this.#evidence
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
