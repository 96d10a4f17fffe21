import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { systemCode } from '../../src/errors.ts'
import { type Certificate, parseCertificatesPem } from '../../src/x509/certificate.ts'

export const kinds = ['kubelet-client', 'kubelet-server'] as const
export type Kind = (typeof kinds)[number]

/** The pair that a node of the fleet holds on disk. */
export interface HeldPair {
  node: string
  kind: Kind
  /** Path of `KIND-current.pem`. */
  path: string
  pem: string
  certificate: Certificate
}

/** Undefined when the node holds none, or none that can be read. */
export function heldPair(directory: string, node: string, kind: Kind): HeldPair | undefined {
  const path = join(directory, 'nodes', node, 'pki', `${kind}-current.pem`)
  const pem = readOrNothing(path)
  const [certificate] = pem === undefined ? [] : parseCertificatesPem(pem)
  return pem === undefined || !certificate ? undefined : { node, kind, path, pem, certificate }
}

/** Names of the nodes that have a folder. */
export function nodeNames(directory: string): string[] {
  return readdirSync(join(directory, 'nodes')).sort()
}

/** Both pairs of all nodes. Throws when one is missing. */
export function heldPairs(directory: string): HeldPair[] {
  return nodeNames(directory).flatMap(node =>
    kinds.map(kind => {
      const pair = heldPair(directory, node, kind)
      if (!pair) throw new Error(`${node} holds no ${kind}`)
      return pair
    }),
  )
}

/** `NODE KIND SERIAL` of each pair: the same lines mean that nothing was issued again. */
export function serials(directory: string): string[] {
  return heldPairs(directory).map(
    ({ node, kind, certificate }) =>
      `${node} ${kind} ${Buffer.from(certificate.serialNumber).toString('hex')}`,
  )
}

/** Process id of the fleet that runs on `directory`; the file may name one that has ended. */
export function fleetProcess(directory: string): number | undefined {
  const id = Number(readOrNothing(join(directory, 'fleet.pid'))?.split(' ')[0])
  return processesOf(directory).includes(id) ? id : undefined
}

/** Processes that run (zombies do not) and have `directory` on their command line. */
export function processesOf(directory: string): number[] {
  return readdirSync('/proc')
    .map(Number)
    .filter(id => id > 0 && id !== process.pid && commandLine(id).includes(directory) && isRunning(id))
}

function isRunning(processId: number): boolean {
  const state = readOrNothing(`/proc/${processId}/stat`)?.split(') ').at(-1)?.[0]
  return state !== undefined && state !== 'Z' && state !== 'X'
}

function commandLine(processId: number): string {
  return readOrNothing(`/proc/${processId}/cmdline`) ?? ''
}

function readOrNothing(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    // ESRCH: a process that ended while its file in /proc was read.
    if (systemCode(error) === 'ENOENT' || systemCode(error) === 'ESRCH') return undefined
    throw error
  }
}
