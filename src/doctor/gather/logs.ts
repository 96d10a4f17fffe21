/** The lines of log files that tell something about certificates; all others, and secrets in them, are left where they are. */
import { RollcallError, systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import type { Gathered, LogLine } from '../artifacts/artifacts.ts'
import { scrub } from '../bundle.ts'
import { tells } from '../log-patterns.ts'

export type LogDisk = Pick<Disk, 'read' | 'readRange' | 'stat'>

/** Bytes of a file that are looked at, its last ones. */
const mostBytes = 16 * 1024 * 1024
/** Lines of a file that are kept, its last ones. */
const mostLines = 2000
/** Characters of a line. */
const mostText = 500

/** Throws USAGE naming the file that does not exist. */
export async function readLogs(paths: readonly string[], disk: LogDisk): Promise<Gathered<LogLine[]>> {
  const lines: LogLine[] = []
  for (const path of paths) {
    try {
      lines.push(...linesIn(await tail(path, disk), path))
    } catch (error) {
      const code = systemCode(error)
      if (code === undefined) throw error
      if (code === 'ENOENT' || code === 'EISDIR')
        throw new RollcallError(
          'USAGE',
          `--log: ${path} cannot be read: ${code}`,
          { file: path },
          { cause: error },
        )
      return { status: code === 'EACCES' ? 'forbidden' : 'failed', reason: `${path}: ${code}` }
    }
  }
  return { status: 'ok', value: lines }
}

/** `-` is stdin; a pipe is read to its end. */
async function tail(given: string, disk: LogDisk): Promise<string> {
  const path = given === '-' ? '/dev/stdin' : given
  const { kind, size } = await disk.stat(path)
  const bytes =
    kind === 'file' && size > mostBytes && disk.readRange
      ? await disk.readRange(path, size - mostBytes, mostBytes)
      : await disk.read(path)
  return new TextDecoder().decode(bytes)
}

function linesIn(text: string, file: string): LogLine[] {
  const telling = text.split('\n').filter(tells).slice(-mostLines)
  return telling.map(line => {
    const at = timeIn(line)
    return { file, ...(at !== undefined && { at }), text: scrub(line.trim().slice(0, mostText)) }
  })
}

/** RFC 3339, where the line begins with it or has it as its time; klog's own time has no year. */
function timeIn(line: string): string | undefined {
  const [found] = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)/.exec(line.slice(0, 100)) ?? []
  return found
}
