/** An inventory as operators write it: which node has which names and addresses. */
import { type Document, LineCounter, parseAllDocuments } from 'yaml'
import { RollcallError } from '../../errors.ts'
import { isRecord } from '../../kube/json.ts'
import { parseIp } from '../../x509/ip.ts'
import { canonicalAddress, canonicalDns, isNodeName } from '../canonical-name.ts'
import { type IpRange, parseRange } from '../ip-range.ts'
import { keyTwice } from '../yaml-keys.ts'
import { type MachineRecord, machineRecord } from './machine-record.ts'

export interface InventoryEntry {
  /** In canonical form, the node's own name among them. */
  names: ReadonlySet<string>
  addresses: ReadonlySet<string>
  attributes: Readonly<Record<string, string>>
  /** Addresses that it may carry for a time, as egress addresses that move between nodes. */
  floating: readonly IpRange[]
  machine: MachineRecord
}

/** By node name; two where the inventory has two entries for it. */
export type InventoryEntries = ReadonlyMap<string, readonly InventoryEntry[]>

/**
 * Reads YAML or JSON texts by name, all of them together:
 *
 *     nodes:
 *       worker-1:
 *         names: [worker-1.example.net]
 *         addresses: [10.0.0.11]
 *         attributes: { rack: a }
 *         floating: [10.9.0.0/24]
 *         machine: { created: 2026-03-01T12:00:00Z, state: Ready, joined: false }
 *
 * Throws RollcallError INVENTORY_INVALID naming the text, the node and the field; then none of it counts.
 */
export function parseInventory(texts: Readonly<Record<string, string>>): InventoryEntries {
  const entries = new Map<string, InventoryEntry[]>()
  for (const [text, content] of Object.entries(texts)) {
    for (const document of documentsOf(text, content)) {
      const { nodes, ...rest } = fieldsOf(document, text)
      refuseOthers(rest, text)
      for (const [nodeName, value] of Object.entries(fieldsOf(nodes ?? {}, `${text}: nodes`))) {
        const entry = entryOf(nodeName, value, `${text}: nodes.${nodeName}`)
        entries.set(nodeName, [...(entries.get(nodeName) ?? []), entry])
      }
    }
  }
  return entries
}

function documentsOf(text: string, content: string): unknown[] {
  const lineCounter = new LineCounter()
  // Without the text around the error: an inventory may be a Secret, and what is wrong with it is told to everybody.
  return parseAllDocuments(content, { lineCounter, prettyErrors: false, uniqueKeys: false }).flatMap(
    document => {
      const [error] = document.errors
      if (error) throw invalid(text, `line ${lineCounter.linePos(error.pos[0]).line}: ${error.code}`)
      const twice = keyTwice(document)
      if (twice) throw invalid(text, `line ${lineCounter.linePos(twice.offset).line}: a key is there twice`)
      const value = expanded(document, text)
      return value === null ? [] : [value]
    },
  )
}

/** The parser counts aliases: a few lines of them stand for gigabytes. */
function expanded(document: Document.Parsed, text: string): unknown {
  try {
    return document.toJS()
  } catch (error) {
    if (error instanceof ReferenceError) throw invalid(text, 'has more aliases than are expanded')
    throw error
  }
}

function entryOf(nodeName: string, value: unknown, where: string): InventoryEntry {
  if (!isNodeName(nodeName)) throw invalid(where, 'is no name that a Node can have')
  const { names, addresses, attributes, floating, machine, ...rest } = fieldsOf(value ?? {}, where)
  refuseOthers(rest, where)
  return {
    names: new Set([nodeName, ...stringsOf(names, `${where}.names`).map(canonicalDns)]),
    addresses: new Set(stringsOf(addresses, `${where}.addresses`).map(text => addressOf(text, where))),
    attributes: attributesOf(attributes, `${where}.attributes`),
    floating: stringsOf(floating, `${where}.floating`).map(text => rangeOf(text, `${where}.floating`)),
    machine: machineOf(machine, `${where}.machine`),
  }
}

function machineOf(value: unknown, where: string): MachineRecord {
  const record = machineRecord(value)
  if (typeof record === 'string') throw invalid(where, record)
  return record
}

/** A range, or one address. */
function rangeOf(text: string, where: string): IpRange {
  try {
    return parseRange(text.includes('/') ? text : `${text}/${text.includes(':') ? 128 : 32}`)
  } catch {
    throw invalid(where, `${JSON.stringify(text)} is no range`)
  }
}

/** F19: an address may be written with the length of its network, which says nothing about whose it is. */
function addressOf(text: string, where: string): string {
  const [host = ''] = text.split('/', 1)
  if (!parseIp(host)) throw invalid(`${where}.addresses`, `${JSON.stringify(text)} is no IP address`)
  return canonicalAddress(host).text
}

function attributesOf(value: unknown, where: string): Record<string, string> {
  const attributes = fieldsOf(value ?? {}, where)
  return Object.fromEntries(
    Object.entries(attributes).map(([key, text]) => {
      if (typeof text !== 'string') throw invalid(`${where}.${key}`, 'must be a string')
      return [key, text]
    }),
  )
}

function stringsOf(value: unknown, where: string): string[] {
  if (value === undefined) return []
  if (!Array.isArray(value) || value.some(item => typeof item !== 'string'))
    throw invalid(where, 'must be a list of strings')
  return value
}

function fieldsOf(value: unknown, where: string): Record<string, unknown> {
  if (!isRecord(value)) throw invalid(where, 'must have fields')
  return value
}

function refuseOthers(rest: object, where: string): void {
  const [unknown] = Object.keys(rest)
  if (unknown !== undefined) throw invalid(where, `has the unknown field ${JSON.stringify(unknown)}`)
}

const invalid = (where: string, why: string) => new RollcallError('INVENTORY_INVALID', `${where}: ${why}`)
