import type { Status } from '../../kube/types.ts'

/** How somebody talks with a command, whatever carries it. */
export interface CommandChannels {
  /** Absent: the client writes nothing. */
  stdin?: AsyncIterable<Uint8Array>
  /** Sizes of the client's terminal as they change, in JSON: `{"Width":80,"Height":24}`. */
  sizes?: AsyncIterable<Uint8Array>
  /** Each resolves when there is room for more. Absent: the client does not want it. */
  stdout?(bytes: Uint8Array): Promise<void>
  stderr?(bytes: Uint8Array): Promise<void>
  /** Tells how the command ended, and closes everything. */
  finish(outcome: CommandOutcome): Promise<void>
  /** Resolves when the client has left. */
  gone: Promise<void>
}

export type CommandOutcome = { exitCode: number } | { error: string }

/** What a client of `exec` or `attach` asks for: the parameters of the kubelet's URL. */
export interface CommandRequest {
  stdin: boolean
  stdout: boolean
  stderr: boolean
  tty: boolean
}

/** From version 4 on the error channel carries a Status; before, a sentence, and nothing when all is well. */
export function outcomeText(outcome: CommandOutcome, protocol: string): string {
  const structured = /^v[45]\./.test(protocol)
  if ('exitCode' in outcome && outcome.exitCode === 0)
    return structured ? JSON.stringify({ metadata: {}, status: 'Success' }) : ''
  const message =
    'error' in outcome
      ? outcome.error
      : `command terminated with non-zero exit code: exit status ${outcome.exitCode}`
  if (!structured) return message
  return JSON.stringify(
    'error' in outcome ? internalError(message) : nonZeroExitCode(message, outcome.exitCode),
  )
}

function nonZeroExitCode(message: string, exitCode: number): Partial<Status> {
  return {
    metadata: {},
    status: 'Failure',
    message,
    reason: 'NonZeroExitCode',
    details: { causes: [{ reason: 'ExitCode', message: String(exitCode) }] },
  }
}

function internalError(message: string): Partial<Status> {
  return {
    metadata: {},
    status: 'Failure',
    message: `Internal error occurred: ${message}`,
    reason: 'InternalError',
    details: { causes: [{ message }] },
    code: 500,
  }
}
