/** Commands to a TPM: framed, authorized, sent one after the other, and sent again where it asks for that. */
import { RollcallError, systemCode } from '../../errors.ts'
import { type Clock, sleep, withTimeout } from '../../ports.ts'
import type { TpmChannel } from './channel.ts'
import { commands, passwordSession, tags } from './numbers.ts'
import { isPassing, TpmError } from './tpm-error.ts'
import { joined, malformed, sized, TpmReader, uint8, uint16, uint32 } from './wire.ts'

export interface TpmCommand {
  name: keyof typeof commands
  handles?: readonly number[]
  /** Who authorizes the first handles: an empty password, or the handle of a policy session, which ends with it. */
  authorize?: readonly ('password' | { policySession: number })[]
  parameters?: readonly Uint8Array[]
  /** The response begins with a handle. */
  givesHandle?: boolean
}

export interface TpmResponse {
  /** 0 where the command gives none. */
  handle: number
  parameters: TpmReader
}

export type SendCommand = (command: TpmCommand) => Promise<TpmResponse>

/** Milliseconds: a hardware TPM may look for RSA primes for half a minute. */
const patience = 120_000
/** Milliseconds before a command is sent again that the TPM could not take; doubled each time. */
const firstPause = 20
const mostTries = 8

/** Rejects with TPM_REFUSED, TPM_MALFORMED, or TPM_ABSENT when the connection fails. */
export function commandSender(channel: TpmChannel, clock: Clock): SendCommand {
  let before: Promise<unknown> = Promise.resolve()
  const exchange = (bytes: Uint8Array) =>
    withTimeout(clock, patience, channel.exchange(bytes), () => {
      // What it answers later would be taken for the answer to the next command.
      channel.close()
      return lost('it gives no answer')
    })
  async function send(command: TpmCommand): Promise<TpmResponse> {
    const bytes = encodeCommand(command)
    for (let tries = 1; ; tries++) {
      const answer = await exchange(bytes).catch(error => {
        throw error instanceof RollcallError ? error : lost(systemCode(error) ?? String(error))
      })
      const { responseCode, response } = readResponse(answer, command)
      if (responseCode === 0 && response) return response
      if (!isPassing(responseCode) || tries >= mostTries) throw new TpmError(command.name, responseCode)
      await sleep(clock, firstPause * 2 ** (tries - 1))
    }
  }
  return command => {
    const sent = before.then(() => send(command))
    before = sent.catch(() => {})
    return sent
  }
}

function encodeCommand({ name, handles = [], authorize = [], parameters = [] }: TpmCommand): Uint8Array {
  const sessions = joined(
    ...authorize.map(by =>
      joined(uint32(by === 'password' ? passwordSession : by.policySession), sized(), uint8(0), sized()),
    ),
  )
  const body = joined(
    ...handles.map(uint32),
    ...(authorize.length > 0 ? [uint32(sessions.length), sessions] : []),
    ...parameters,
  )
  const tag = authorize.length > 0 ? tags.sessions : tags.noSessions
  return joined(uint16(tag), uint32(body.length + 10), uint32(commands[name]), body)
}

/** Exported for the fuzzer. Throws TPM_MALFORMED. */
export function readResponse(
  bytes: Uint8Array,
  { name, givesHandle = false }: Pick<TpmCommand, 'name' | 'givesHandle'>,
): { responseCode: number; response?: TpmResponse } {
  const what = `the response to ${name}`
  const reader = new TpmReader(bytes, what)
  const tag = reader.uint16()
  if (reader.uint32() !== bytes.length) throw malformed(what, 'has another length than it says')
  const responseCode = reader.uint32()
  if (responseCode !== 0) return { responseCode }
  const handle = givesHandle ? reader.uint32() : 0
  const parameters = tag === tags.sessions ? reader.take(reader.uint32()) : reader.rest()
  return { responseCode, response: { handle, parameters: new TpmReader(parameters, what) } }
}

function lost(why: string): RollcallError {
  return new RollcallError('TPM_ABSENT', `the TPM does not answer (${why}).`, {})
}
