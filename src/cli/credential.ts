import { join } from 'node:path'
import type { Command } from 'commander'
import {
  type ExecApiVersion,
  execCredential,
  type SocketCredential,
  wantedVersion,
} from '../agent/beside-kubelet/exec-credential.ts'
import { RollcallError, systemCode } from '../errors.ts'
import { parseKeyPair } from '../hold/key-pair.ts'
import { systemDisk } from '../host/disk.ts'
import { systemNet } from '../host/net.ts'
import { Secret } from '../keys/secret.ts'
import { socketProblem } from '../keys/socket-safety.ts'
import { readTokenKey } from '../keys/token-key.ts'
import { type Clock, sleep } from '../ports.ts'
import { defaultSocket } from './agent-beside.ts'
import type { CommandIo } from './command-io.ts'
import { wholeNumber } from './number-option.ts'

interface CredentialFlags {
  socket: string
  wait: number
  certDir?: string
}

/** Milliseconds after which an agent that does not answer is done without, where the pair lies on the disk. */
const patience = 2000
/** Milliseconds between two looks for an agent that is not there yet. */
const look = 200
/** Bytes: a chain of several certificates and a key fit in. */
const mostBody = 256 * 1024

export function register(program: Command, io: CommandIo): void {
  program
    .command('credential')
    .description(
      "credential plugin for the kubeconfig of a kubelet or of kubectl: prints the node's client certificate, as client-go wants it (client.authentication.k8s.io/v1)",
    )
    .option('--socket <path>', "the agent's socket", defaultSocket)
    .option('--cert-dir <dir>', "the agent's --cert-dir: its pair is used while the agent is away")
    .option('--wait <seconds>', 'how long an agent or a certificate is waited for', wholeNumber(0, 300), 30)
    .action(async (flags: CredentialFlags) => {
      const apiVersion: ExecApiVersion =
        wantedVersion(process.env.KUBERNETES_EXEC_INFO) ?? 'client.authentication.k8s.io/v1'
      io.stdout(execCredential(apiVersion, await askAgent(flags, io)))
    })
}

/** Asks until there is an answer that helps, or the time is over. Rejects with CREDENTIAL_UNAVAILABLE or SOCKET_UNUSABLE. */
async function askAgent(
  { socket, wait, certDir }: CredentialFlags,
  { clock }: CommandIo,
): Promise<SocketCredential> {
  const until = clock.monotonic() + wait * 1000
  const alone = clock.monotonic() + Math.min(patience, wait * 1000)
  for (;;) {
    const left = Math.max(0, until - clock.monotonic())
    const said = await attempt(socket, left)
    if ('clientKeyData' in said) return said
    const isOver = clock.monotonic() + look >= until
    if (said.isAway && certDir !== undefined && (isOver || clock.monotonic() >= alone)) {
      const stored = await storedPair(certDir, clock)
      if (stored) return stored
    }
    if (isOver) throw new RollcallError('CREDENTIAL_UNAVAILABLE', said.why)
    await sleep(clock, look)
  }
}

/** Why there is no credential yet; `isAway`: no agent has said so. */
interface NotYet {
  why: string
  isAway: boolean
}

async function attempt(socket: string, left: number): Promise<SocketCredential | NotYet> {
  const problem = await socketProblem(socket, [process.getuid?.() ?? 0], systemDisk)
  if (problem && !problem.missing)
    throw new RollcallError('SOCKET_UNUSABLE', `${socket} is not trusted: ${problem.message}.`)
  if (problem) return { why: `the agent does not serve ${socket}: ${problem.message}`, isAway: true }
  try {
    const { status, body } = await systemNet.http({
      method: 'GET',
      url: `http://agent/v1/credential?wait=${Math.ceil(left / 1000)}`,
      socketPath: socket,
      // The agent ends the waiting; one that hangs does not hold up a kubelet for ever.
      signal: AbortSignal.timeout(Math.ceil(left) + 5000),
      mostBody,
    })
    const answer = JSON.parse(body) as Partial<SocketCredential> & { error?: string }
    const { clientCertificateData, clientKeyData, expirationTimestamp } = answer
    if (status === 200 && clientCertificateData && clientKeyData && expirationTimestamp)
      return { clientCertificateData, clientKeyData, expirationTimestamp }
    const why = answer.error ?? `the agent answers ${status}`
    if (status === 409) throw new RollcallError('CREDENTIAL_UNAVAILABLE', why)
    return { why, isAway: false }
  } catch (error) {
    if (error instanceof RollcallError) throw error
    const why = `the agent at ${socket} does not answer (${systemCode(error) ?? String(error)})`
    return { why, isAway: true }
  }
}

/** The pair that the agent has left on the disk, for as long as it is good; client-go asks again soon. */
async function storedPair(directory: string, clock: Clock): Promise<SocketCredential | undefined> {
  try {
    const path = join(directory, 'kubelet-client-current.pem')
    const pair = parseKeyPair(new Secret(new TextDecoder().decode(await systemDisk.read(path))))
    const now = clock.now()
    if (pair.leaf.notAfter <= now || readTokenKey(pair.key)) return undefined
    return {
      clientCertificateData: pair.chain,
      clientKeyData: pair.key.reveal(),
      expirationTimestamp: new Date(Math.min(now + 60_000, pair.leaf.notAfter)).toISOString(),
    }
  } catch {
    return undefined // whoever asks is told of the agent, which would repair it
  }
}
