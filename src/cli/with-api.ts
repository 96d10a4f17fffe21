import type { CommandIo, ConnectedApi, ConnectionFlags } from './command-io.ts'

/** Connects, does the work, and closes the connections however it ended. */
export async function withApi<T>(
  io: CommandIo,
  flags: ConnectionFlags,
  work: (api: ConnectedApi) => Promise<T>,
): Promise<T> {
  const api = await io.connect(flags)
  try {
    return await work(api)
  } finally {
    api.close()
  }
}
