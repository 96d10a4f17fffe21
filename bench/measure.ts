import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { openssl } from '../test/support/openssl.ts'

/** Prints the one line of a benchmark: what we reach, and beside it what the machine could. */
export function line(name: string, reached: string, limit: string): void {
  console.log(`${name.padEnd(22)} ${reached}   | limit: ${limit}`)
}

export const whole = (value: number) => Math.round(value).toLocaleString('en-US')
export const micros = (milliseconds: number) => `${Math.round(milliseconds * 1000)} µs`
export const percent = (part: number, of: number) => `${Math.round((100 * part) / of)} %`

export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b)
  const middle = sorted[Math.floor(sorted.length / 2)]
  if (middle === undefined) throw new RangeError('the median of nothing')
  return middle
}

/** Wall time and CPU time of this process, both in milliseconds, that `work` took. */
export async function measured(work: () => Promise<void>): Promise<{ wall: number; cpu: number }> {
  const cpu = process.cpuUsage()
  const began = performance.now()
  await work()
  const wall = performance.now() - began
  const { user, system } = process.cpuUsage(cpu)
  return { wall, cpu: (user + system) / 1000 }
}

/** Operations a second and core that openssl itself makes on this machine (ECDSA P-256). */
export async function opensslSpeed(): Promise<{ signs: number; verifies: number }> {
  const { output } = await openssl(['speed', '-seconds', '2', 'ecdsap256'])
  const found = /nistp256\)\s+\S+s\s+\S+s\s+([\d.]+)\s+([\d.]+)/.exec(output)
  if (!found) throw new Error(`openssl speed said something else: ${output}`)
  return { signs: Number(found[1]), verifies: Number(found[2]) }
}

/** Milliseconds of CPU that the process has used so far, all its threads. */
export function cpuOf(processId: number): number {
  const fields = readFileSync(`/proc/${processId}/stat`, 'utf8').split(') ').at(-1)?.split(' ') ?? []
  const ticks = Number(fields[11]) + Number(fields[12])
  return ticks * 10 // USER_HZ is 100 on every Linux that Node runs on
}

/** MiB of memory that is resident now. */
export function residentMemory(processId: number): number {
  const kibibytes = /VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${processId}/status`, 'utf8'))?.[1]
  return Number(kibibytes) / 1024
}

/** `work` for each item, at most `width` at a time. */
export async function inParallel<T>(
  items: readonly T[],
  width: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const lane = async () => {
    for (let item = items[next++]; item !== undefined; item = items[next++]) await work(item)
  }
  await Promise.all(Array.from({ length: width }, lane))
}

/** Starts a TypeScript file in a process of its own and waits for its first line on stdout. */
export async function startProgram(file: string, args: string[]) {
  const child = spawn(process.execPath, ['--disable-warning=ExperimentalWarning', file, ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const { promise, resolve, reject } = Promise.withResolvers<string>()
  child.stdout.setEncoding('utf8').once('data', resolve)
  child.once('exit', code => reject(new Error(`${file} ended with ${code}`)))
  return { child, firstLine: (await promise).trim() }
}
