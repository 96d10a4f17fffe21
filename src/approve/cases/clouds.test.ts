/**
 * Fleets as clouds and their operators name them. A kubelet asks for all that its Node lists (K-73): the honest one is
 * approved at each level of evidence, the thief at none of them, and the victim again after all that the thief has done.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import type { PolicyEvidence } from '../../kube/rollcall/certificate-policy/spec.ts'
import { evidenceLevels } from '../../kube/rollcall/certificate-policy/spec.ts'
import type { KubeNode, NodeAddress } from '../../kube/types.ts'
import { bothGroups } from '../../testing/judged-cases.ts'
import { createdAt, createdNode, sans, servingFacts, withSubject } from '../../testing/judged-request.ts'
import { parseIp } from '../../x509/ip.ts'
import { AddressIndex } from '../address-index.ts'
import { Inventory } from '../inventory/inventory.ts'
import { parseInventory } from '../inventory/parse-inventory.ts'
import { judge } from '../judge.ts'
import type { Verdict } from '../verdict.ts'

type Address = [type: NodeAddress['type'], address: string]
interface Machine {
  name: string
  addresses: Address[]
}

const numbered = (of: (n: number) => Machine): Machine[] => [11, 12, 13].map(of)
const aws = (n: number, domain: string): Machine => {
  const name = `ip-10-0-0-${n}.eu-west-1.compute.internal`
  const outside = `ec2-203-0-113-${n}.eu-west-1.compute.amazonaws.com`
  return {
    name,
    addresses: [
      ['InternalIP', `10.0.0.${n}`],
      ['ExternalIP', `203.0.113.${n}`],
      ['InternalDNS', `ip-10-0-0-${n}.${domain}`],
      ['Hostname', name],
      ['ExternalDNS', outside],
    ],
  }
}

const fleets: Record<string, Machine[]> = {
  'AWS, with public and private names': numbered(n => aws(n, 'eu-west-1.compute.internal')),
  'AWS with a DHCP domain that ends in a dot': numbered(n => aws(n, 'corp.example.')),
  'AWS with several interfaces': numbered(n => ({
    name: `i-0abc${n}`,
    addresses: [
      ...[0, 1, 2, 3].map((net): Address => ['InternalIP', `10.0.${net}.${n}`]),
      ['Hostname', `i-0abc${n}`],
    ],
  })),
  'Google Cloud, with both forms of internal names': numbered(n => ({
    name: `gke-pool-${n}`,
    addresses: [
      ['InternalIP', `10.128.0.${n}`],
      ['ExternalIP', `203.0.113.${n}`],
      ['Hostname', `gke-pool-${n}`],
      ['InternalDNS', `gke-pool-${n}.c.project.internal`],
      ['InternalDNS', `gke-pool-${n}.europe-west1-b.c.project.internal`],
    ],
  })),
  Azure: numbered(n => ({
    name: `aks-nodepool1-${n}-vmss00000a`,
    addresses: [
      ['InternalIP', `10.224.0.${n}`],
      ['Hostname', `aks-nodepool1-${n}-vmss00000a`],
    ],
  })),
  'vSphere, which writes an address as internal and external': numbered(n => ({
    name: `esx-${n}`,
    addresses: [
      ['Hostname', `esx-${n}`],
      ['InternalIP', `192.168.7.${n}`],
      ['ExternalIP', `192.168.7.${n}`],
    ],
  })),
  'OpenStack, dual-stack, with a written-out IPv6 address': numbered(n => ({
    name: `os-${n}`,
    addresses: [
      ['InternalIP', `10.20.0.${n}`],
      ['InternalIP', `FD00:0:0:0:0:0:0:${n}`],
      ['Hostname', `os-${n}`],
    ],
  })),
  'IPv6 alone': numbered(n => ({
    name: `six-${n}`,
    addresses: [
      ['InternalIP', `2001:db8::${n}`],
      ['Hostname', `six-${n}`],
    ],
  })),
  'Hetzner, with an address of the private network too': numbered(n => ({
    name: `fsn-${n}`,
    addresses: [
      ['Hostname', `fsn-${n}`],
      ['ExternalIP', `203.0.113.${n}`],
      ['InternalIP', `10.1.0.${n}`],
      ['ExternalIP', `2001:db8:1::${n}`],
    ],
  })),
  'kubeadm on bare metal': numbered(n => ({
    name: `metal-${n}`,
    addresses: [
      ['InternalIP', `172.16.0.${n}`],
      ['Hostname', `metal-${n}`],
    ],
  })),
  'bare metal with a host name in upper case, and one of another domain': numbered(n => ({
    name: `rack-${n}`,
    addresses: [
      ['InternalIP', `172.16.1.${n}`],
      ['Hostname', `RACK-${n}`],
      ['InternalDNS', `n${n}.dc.example.net`],
    ],
  })),
  '--hostname-override with the address': numbered(n => ({
    name: `10.30.0.${n}`,
    addresses: [
      ['InternalIP', `10.30.0.${n}`],
      ['Hostname', `10.30.0.${n}`],
    ],
  })),
  'a link-local address with a zone beside the own one': numbered(n => ({
    name: `zone-${n}`,
    addresses: [
      ['InternalIP', `10.40.0.${n}`],
      ['InternalIP', `fe80::${n}%eth0`],
      ['Hostname', `zone-${n}`],
    ],
  })),
}

/** The Node made at the n-th second, listing these addresses. */
const nodeOf = ({ name, addresses }: Machine, second: number): KubeNode =>
  createdNode(
    {
      apiVersion: 'v1',
      kind: 'Node',
      metadata: { name },
      status: { addresses: addresses.map(([type, address]) => ({ type, address })) },
    },
    createdAt - 3_600_000 + second * 1000,
  )

/** What a kubelet asks for: Hostnames that are addresses become such, what is neither is left out, the rest verbatim. */
function wanted({ addresses }: Machine) {
  const texts = [...new Set(addresses.map(([, address]) => address))]
  return sans(
    texts.filter(text => !parseIp(text) && !text.includes('%')),
    texts.filter(text => parseIp(text)),
  )
}

function inventoryOf(fleet: readonly Machine[]): Inventory {
  const inventory = new Inventory('inventory')
  const nodes = fleet.map(({ name, addresses }) => {
    const texts = addresses.map(([, address]) => address).filter(text => !text.includes('%'))
    const entry = {
      names: texts.filter(text => !parseIp(text)),
      addresses: texts.filter(text => parseIp(text)),
    }
    return [name, entry] as const
  })
  inventory.read(parseInventory({ i: JSON.stringify({ nodes: Object.fromEntries(nodes) }) }))
  return inventory
}

function asks(
  fleet: readonly Machine[],
  nodes: readonly KubeNode[],
  who: Machine,
  evidence: PolicyEvidence,
): Verdict {
  const claims = new AddressIndex()
  for (const node of nodes) claims.set(node)
  return judge(
    servingFacts({
      spec: { username: `system:node:${who.name}`, groups: bothGroups },
      asked: { ...withSubject(`system:node:${who.name}`).asked, subjectAltName: wanted(who) },
      nodes: [...nodes],
      claims,
      evidence: [inventoryOf(fleet)],
      protection: { inForce: true, since: createdAt - 7_200_000 },
      policy: { evidence, allowedRanges: [], inventory: { file: 'i' } },
    }),
  )
}

for (const [title, fleet] of Object.entries(fleets))
  for (const evidence of evidenceLevels)
    test(`${title}, evidence ${evidence}: honest nodes are approved, a thief is not`, () => {
      const nodes = fleet.map(nodeOf)
      for (const machine of fleet) {
        const { outcome, reasons } = asks(fleet, nodes, machine, evidence)
        assert.equal(outcome, 'Approve', reasons[0]?.message)
      }
      const [victim, thief, other] = fleet
      assert.ok(victim && thief && other)
      for (const loot of victim.addresses.filter(([, address]) => !address.includes('%'))) {
        // Root on it writes the address of the victim to its own Node, and asks.
        const robbing = { ...thief, addresses: [...thief.addresses, loot] }
        const after = [nodeOf(victim, 0), nodeOf(robbing, 1), nodeOf(other, 2)]
        assert.notEqual(asks(fleet, after, robbing, evidence).outcome, 'Approve', loot.join(' '))
        const again = asks(fleet, after, victim, evidence)
        assert.equal(again.outcome, 'Approve', again.reasons[0]?.message)
      }
    })
