/** Characters of a part: what one change copies, and one look searches. */
const PART = 2048
/** Before a key, and between it and the mark of its heading. */
const [BEGIN, END] = ['\n', '\t']
/** The first mark; those after it are letters too. */
const FIRST_MARK = 32

/** Keys from `from` on, as far as the next part's: `\nKEY\tMARK`, one after the other, in any order. */
interface Part {
  readonly from: string
  text: string
}

/**
 * Under which of a few headings each of very many keys stands, in little more memory than the characters of the keys: a
 * Map takes 100 bytes an entry, and each of its keys is work for the garbage collector.
 */
export class TalliedKeys {
  #parts: Part[] = []
  readonly #headings: string[] = []
  readonly #counts = new Map<string, number>()

  /** Whether a key can be kept here; only a name that no resource with many objects allows cannot. */
  static takes(key: string): boolean {
    return !key.includes(BEGIN) && !key.includes(END)
  }

  /** How many keys each heading has. */
  counts(): ReadonlyMap<string, number> {
    return this.#counts
  }

  get(key: string): string | undefined {
    return this.#find(key)?.heading
  }

  set(key: string, heading: string): void {
    this.delete(key)
    this.#count(heading, 1)
    const at = this.#partFor(key)
    const part = this.#parts[at]
    const text = (part?.text ?? '') + BEGIN + key + END + this.#markOf(heading)
    if (!part) this.#parts.push({ from: '', text })
    else if (text.length <= PART) part.text = text
    else this.#parts.splice(at, 1, ...split(part.from, text, key))
  }

  delete(key: string): void {
    const found = this.#find(key)
    if (!found) return
    const { at, part, begin, end, heading } = found
    this.#count(heading, -1)
    part.text = part.text.slice(0, begin) + part.text.slice(end)
    // The first one stays: it begins before every key.
    if (part.text === '' && at > 0) this.#parts.splice(at, 1)
  }

  /** What is there now. The text is shared: it takes next to nothing. */
  copy(): TalliedKeys {
    const copy = new TalliedKeys()
    copy.#parts = this.#parts.map(part => ({ ...part }))
    copy.#headings.push(...this.#headings)
    for (const [heading, count] of this.#counts) copy.#counts.set(heading, count)
    return copy
  }

  *keys(): Generator<string> {
    for (const { text } of [...this.#parts]) for (const record of recordsOf(text)) yield keyOf(record)
  }

  #find(key: string) {
    const at = this.#partFor(key)
    const part = this.#parts[at]
    const probe = BEGIN + key + END
    const begin = part?.text.indexOf(probe) ?? -1
    if (!part || begin < 0) return undefined
    const mark = begin + probe.length
    const heading = this.#headings[part.text.charCodeAt(mark) - FIRST_MARK] ?? ''
    return { at, part, begin, end: mark + 1, heading }
  }

  #count(heading: string, more: 1 | -1): void {
    this.#counts.set(heading, (this.#counts.get(heading) ?? 0) + more)
  }

  #markOf(heading: string): string {
    const known = this.#headings.indexOf(heading)
    return String.fromCharCode(FIRST_MARK + (known < 0 ? this.#headings.push(heading) - 1 : known))
  }

  /** Index of the last part that begins at or before the key. */
  #partFor(key: string): number {
    let low = 0
    let high = this.#parts.length
    while (low < high) {
      const middle = (low + high) >>> 1
      if ((this.#parts[middle]?.from ?? '') <= key) low = middle + 1
      else high = middle
    }
    return Math.max(0, low - 1)
  }
}

/** Two parts of one that is full, which begins at `from`; `added` is the key that came last. */
function split(from: string, text: string, added: string): Part[] {
  // By key alone: with what follows it, a character before END would come before the end of a shorter key.
  const records = recordsOf(text).sort((one, other) => (keyOf(one) < keyOf(other) ? -1 : 1))
  // What comes in order, as the pages of a list do, fills its parts.
  const inOrder = keyOf(records.at(-1) ?? '') === added
  const middle = inOrder ? records.length - 1 : records.length >> 1
  const second = records.slice(middle)
  return [
    { from, text: textOf(records.slice(0, middle)) },
    // A cut of the text would keep all of it alive.
    { from: inOrder ? added : keyOf(second[0] ?? ''), text: textOf(second) },
  ]
}

const recordsOf = (text: string) => (text === '' ? [] : text.slice(BEGIN.length).split(BEGIN))
const textOf = (records: readonly string[]) => records.map(record => BEGIN + record).join('')
const keyOf = (record: string) => record.slice(0, record.indexOf(END))
