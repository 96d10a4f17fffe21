/**
 * One change of several files, whole or not at all: what was there and what shall be there are on the disk before the first
 * file is touched. Who comes after a crash reads what was under way, and finishes or undoes it; nobody has to be asked.
 */
import { posix } from 'node:path'
import { systemCode } from '../../errors.ts'
import type { Disk } from '../../ports.ts'
import { replaceFile } from './replace-file.ts'

export interface FileChange {
  path: string
  text: string
  /** Permission bits where the file is new; one that is there keeps owner and mode. */
  mode: number
}

export interface OpenStep<Facts> {
  facts: Facts
  /** Undoing: it has to be as it was before. */
  direction: 'Doing' | 'Undoing'
  why?: string
  files: readonly { path: string; mode: number; isNew: boolean }[]
}

/** The journal in `directory` (0700). `Facts` is JSON: what has to be known to judge the step. */
export class StepJournal<Facts> {
  readonly #disk: Disk
  readonly #directory: string

  constructor(disk: Disk, directory: string) {
    this.#disk = disk
    this.#directory = directory
  }

  /** The step that is under way. */
  async open(): Promise<OpenStep<Facts> | undefined> {
    const text = await readText(this.#disk, this.#record)
    return text === undefined ? undefined : (JSON.parse(text) as OpenStep<Facts>)
  }

  /** Removes what a crash has left of a step that never began, or was over: there are keys in it. */
  async tidy(): Promise<void> {
    await this.#disk.makeDirectory(this.#directory, 0o700)
    if ((await this.open()) === undefined) await this.#clear()
  }

  /** Resolves when nothing of it can be lost any more. No other step may be under way. */
  async begin(changes: readonly FileChange[], facts: Facts): Promise<OpenStep<Facts>> {
    const disk = this.#disk
    await disk.makeDirectory(this.#directory, 0o700)
    await this.#clear()
    const files: { path: string; mode: number; isNew: boolean }[] = []
    for (const [index, { path, text, mode }] of changes.entries()) {
      const before = await readText(disk, path)
      const keep = { mode: 0o600, exclusive: true, sync: true }
      if (before !== undefined) await disk.write(this.#copy(index, 'before'), before, keep)
      await disk.write(this.#copy(index, 'after'), text, keep)
      files.push({ path, mode, isNew: before === undefined })
    }
    await disk.syncDirectory(this.#directory)
    const step: OpenStep<Facts> = { facts, direction: 'Doing', files }
    await this.#write(step)
    return step
  }

  /** Every file as the step's direction says. May be done again. */
  async carryOut({ files, direction }: OpenStep<Facts>): Promise<void> {
    const undoing = direction === 'Undoing'
    const ordered = [...files.entries()]
    // What leads to a file is written after it, and taken away before it.
    for (const [index, { path, mode, isNew }] of undoing ? ordered.reverse() : ordered) {
      if (undoing && isNew) {
        await this.#disk.remove(path)
        await this.#disk.syncDirectory(posix.dirname(path))
        continue
      }
      const text = await readText(this.#disk, this.#copy(index, undoing ? 'before' : 'after'))
      if (text !== undefined) await replaceFile(this.#disk, path, text, mode)
    }
  }

  /** From now on it is to be undone, whatever happens. */
  async turnBack(step: OpenStep<Facts>, why: string): Promise<OpenStep<Facts>> {
    const back: OpenStep<Facts> = { ...step, direction: 'Undoing', why }
    await this.#write(back)
    return back
  }

  /** The step is over; copies of what was there go. */
  async close(): Promise<void> {
    await this.#disk.remove(this.#record)
    await this.#disk.syncDirectory(this.#directory)
    await this.#clear()
  }

  /** Copies without a record: of a step that never began, or is over. */
  async #clear(): Promise<void> {
    for (const name of await this.#disk.list(this.#directory))
      if (/^\d+\.(before|after)$/.test(name)) await this.#disk.remove(posix.join(this.#directory, name))
    await this.#disk.syncDirectory(this.#directory)
  }

  async #write(step: OpenStep<Facts>): Promise<void> {
    await replaceFile(this.#disk, this.#record, JSON.stringify(step), 0o600)
  }

  get #record(): string {
    return posix.join(this.#directory, 'step.json')
  }

  #copy(index: number, which: 'before' | 'after'): string {
    return posix.join(this.#directory, `${index}.${which}`)
  }
}

/** undefined: it is not there. */
export async function readText(disk: Pick<Disk, 'read'>, path: string): Promise<string | undefined> {
  try {
    return new TextDecoder().decode(await disk.read(path))
  } catch (error) {
    if (systemCode(error) === 'ENOENT') return undefined
    throw error
  }
}
