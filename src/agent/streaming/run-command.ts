import type { ContainerStreams } from '../../pods/runtime.ts'
import type { CommandChannels } from './command-channels.ts'

/**
 * Joins a client's channels with what runs in a container, until that ends or the client leaves; then both are closed.
 * Resolves when all that was written has been told. Never rejects: what fails is told to the client.
 */
export async function runCommand(
  channels: CommandChannels,
  open: () => Promise<ContainerStreams>,
): Promise<void> {
  let streams: ContainerStreams
  try {
    streams = await open()
  } catch (error) {
    return channels.finish({ error: error instanceof Error ? error.message : String(error) })
  }
  void channels.gone.then(() => streams.close())
  // A command that cannot be written to any more is over for the client.
  feed(channels, streams).catch(() => streams.close())
  void follow(channels, streams)
  try {
    const [exitCode] = await Promise.all([
      streams.exitCode,
      pump(streams.stdout, channels.stdout),
      streams.stderr && pump(streams.stderr, channels.stderr),
    ])
    await channels.finish({ exitCode })
  } catch (error) {
    await channels.finish({ error: error instanceof Error ? error.message : String(error) })
  } finally {
    streams.close()
  }
}

async function feed({ stdin }: CommandChannels, { stdin: target }: ContainerStreams): Promise<void> {
  if (!stdin || !target) return target?.end()
  for await (const chunk of stdin) await target.write(chunk)
  target.end()
}

async function follow({ sizes }: CommandChannels, streams: ContainerStreams): Promise<void> {
  if (!sizes) return
  for await (const chunk of sizes) {
    const size = parseSize(chunk)
    if (size) streams.resize?.(size)
  }
}

/** undefined: it is no size, and changes nothing. */
function parseSize(chunk: Uint8Array): { width: number; height: number } | undefined {
  try {
    const { Width: width, Height: height } = JSON.parse(Buffer.from(chunk).toString('utf8')) as Record<
      string,
      unknown
    >
    const fits = (side: unknown): side is number =>
      Number.isInteger(side) && Number(side) > 0 && Number(side) < 65_536
    return fits(width) && fits(height) ? { width, height } : undefined
  } catch {
    return undefined
  }
}

/** Reads to the end also what nobody wants: a command must not wait for ever to be read. */
async function pump(
  source: AsyncIterable<Uint8Array>,
  target: ((bytes: Uint8Array) => Promise<void>) | undefined,
): Promise<void> {
  for await (const chunk of source) await target?.(chunk)
}
