import { RollcallError } from '../../errors.ts'
import { ApiStatusError, isStatus } from '../../kube/client.ts'
import type { Gathered } from '../artifacts/artifacts.ts'

/** The artifact, or why it cannot be had. Only what the API or the network says is taken for that; a bug is thrown on. */
export async function attempt<T>(work: () => Promise<T>): Promise<Gathered<T>> {
  try {
    return { status: 'ok', value: await work() }
  } catch (error) {
    if (isStatus(error, 'Forbidden')) return { status: 'forbidden', reason: messageOf(error) }
    if (error instanceof RollcallError) return { status: 'failed', reason: messageOf(error) }
    throw error
  }
}

/** As `attempt`; an object that does not exist is `absent`, which is no failure. */
export async function attemptOptional<T>(work: () => Promise<T>, what: string): Promise<Gathered<T>> {
  try {
    return await attempt(async () => {
      try {
        return await work()
      } catch (error) {
        if (isStatus(error, 'NotFound')) throw new Absent()
        throw error
      }
    })
  } catch (error) {
    if (error instanceof Absent) return { status: 'absent', reason: `there is no ${what}` }
    throw error
  }
}

/** What is gathered from something gathered; where that could not be had, neither can this. */
export function andThen<T, U>(gathered: Gathered<T>, work: (value: T) => Promise<U>): Promise<Gathered<U>> {
  return gathered.status === 'ok' ? attempt(() => work(gathered.value)) : Promise.resolve(gathered)
}

class Absent extends Error {}

function messageOf(error: RollcallError): string {
  return error instanceof ApiStatusError ? (error.status.message ?? error.message) : error.message
}
