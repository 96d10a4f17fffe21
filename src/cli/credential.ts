import type { Command } from 'commander'
import {
  type ExecApiVersion,
  execCredential,
  type SocketCredential,
  wantedVersion,
} from '../agent/beside-kubelet/exec-credential.ts'
import { RollcallError, systemCode } from '../errors.ts'
import { systemDisk } from '../host/disk.ts'
import { systemNet } from '../host/net.ts'
import { socketProblem } from '../keys/socket-safety.ts'
import { sleep } from '../ports.ts'
import { defaultSocket } from './agent-beside.ts'
import type { CommandIo } from './command-io.ts'
import { wholeNumber } from './number-option.ts'

interface CredentialFlags {
  socket: string
  wait: number
}

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
    .option('--wait <seconds>', 'how long an agent or a certificate is waited for', wholeNumber(0, 300), 30)
    .action(async (flags: CredentialFlags) => {
      const apiVersion: ExecApiVersion =
        wantedVersion(process.env.KUBERNETES_EXEC_INFO) ?? 'client.authentication.k8s.io/v1'
      io.stdout(execCredential(apiVersion, await askAgent(flags, io)))
    })
}

/** Asks until there is an answer that helps, or the time is over. Rejects with CREDENTIAL_UNAVAILABLE or SOCKET_UNUSABLE. */
async function askAgent({ socket, wait }: CredentialFlags, { clock }: CommandIo): Promise<SocketCredential> {
  const until = clock.monotonic() + wait * 1000
  for (;;) {
    const left = Math.max(0, until - clock.monotonic())
    const said = await attempt(socket, left)
    if (typeof said !== 'string') return said
    if (clock.monotonic() + look >= until) throw new RollcallError('CREDENTIAL_UNAVAILABLE', said)
    await sleep(clock, look)
  }
}

/** The credential, or why there is none yet. */
async function attempt(socket: string, left: number): Promise<SocketCredential | string> {
  const problem = await socketProblem(socket, [process.getuid?.() ?? 0], systemDisk)
  if (problem && !problem.missing)
    throw new RollcallError('SOCKET_UNUSABLE', `${socket} is not trusted: ${problem.message}.`)
  if (problem) return `the agent does not serve ${socket}: ${problem.message}`
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
    return why
  } catch (error) {
    if (error instanceof RollcallError) throw error
    return `the agent at ${socket} does not answer (${systemCode(error) ?? String(error)})`
  }
}
