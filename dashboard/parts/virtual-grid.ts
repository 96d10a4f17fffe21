import { useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import { html, type View } from '../html.ts'

interface GridProps<T extends object> {
  label: string
  items: readonly T[]
  /** What else `render` looks at, such as the time: items are drawn anew when it changes. */
  version: unknown
  /** Pixels; columns are at least so wide. */
  minWidth: number
  rowHeight: number
  render(item: T): View
  onOpen(item: T): void
}

/** Rows drawn above and below what is seen, so that a quick scroll meets no empty space. */
const spare = 2

interface Slot {
  n: number
  tabindex: 0 | -1
  view: View
}

/**
 * A grid of which only the rows in sight are in the page. One of its items is in the order of Tab; arrows, Home, End and the
 * page keys go from one to the next.
 *
 * What a scroll costs is what a frame may last, so nothing is made, taken away or moved in the page while it scrolls: each
 * item has the slot of its number, and a slot that comes into sight anew has only its texts and its place changed. The
 * order in which slots are read is told to screen readers.
 */
export function VirtualGrid<T extends object>({
  label,
  items,
  version,
  minWidth,
  rowHeight,
  render,
  onOpen,
}: GridProps<T>): View {
  const box = useRef<HTMLDivElement>(null)
  const [size, setSize] = useState({ width: 0, height: 0 })
  const [firstRow, setFirstRow] = useState(0)
  const [current, setCurrent] = useState(0)
  const focusNext = useRef(false)
  const columns = Math.max(1, Math.floor(size.width / minWidth))
  const rows = Math.ceil(items.length / columns)
  const seen = Math.ceil(size.height / rowHeight) + 1

  useLayoutEffect(() => {
    const element = box.current
    if (!element) return
    const measure = () => setSize({ width: element.clientWidth, height: element.clientHeight })
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])

  useLayoutEffect(() => {
    if (!focusNext.current) return
    focusNext.current = false
    box.current?.querySelector<HTMLElement>(`[data-n="${current}"]`)?.focus({ preventScroll: true })
  })

  const onScroll = () => {
    const row = Math.floor((box.current?.scrollTop ?? 0) / rowHeight)
    setFirstRow(row)
    // Elements are used again for other items, and must not take the focus along to one that nobody chose.
    const { activeElement } = document
    const at = activeElement instanceof HTMLElement ? Number(activeElement.dataset.n) : Number.NaN
    const gone = at < (row - spare) * columns || at >= (row + seen + spare) * columns
    if (gone && box.current?.contains(activeElement)) box.current.focus({ preventScroll: true })
  }
  const moveTo = (n: number) => {
    const next = Math.min(items.length - 1, Math.max(0, n))
    const element = box.current
    if (!element) return
    const top = Math.floor(next / columns) * rowHeight
    if (top < element.scrollTop) element.scrollTop = top
    else if (top + rowHeight > element.scrollTop + size.height)
      element.scrollTop = top + rowHeight - size.height
    const drawnAlready = element.querySelector<HTMLElement>(`[data-n="${next}"]`)
    setCurrent(next)
    // At once where it can be: the next key may come before the next frame.
    if (drawnAlready) return drawnAlready.focus({ preventScroll: true })
    focusNext.current = true
    onScroll()
  }
  const steps: Record<string, number> = {
    ArrowRight: 1,
    ArrowLeft: -1,
    ArrowDown: columns,
    ArrowUp: -columns,
    PageDown: columns * Math.max(1, seen - 2),
    PageUp: -columns * Math.max(1, seen - 2),
    Home: -items.length,
    End: items.length,
  }
  const onKeyDown = (event: KeyboardEvent) => {
    const step = steps[event.key]
    if (step === undefined || event.ctrlKey || event.metaKey || event.altKey) return
    event.preventDefault()
    moveTo(current + step)
  }

  const from = Math.max(0, Math.min(firstRow, rows - seen) - spare) * columns
  const pool = (seen + 2 * spare) * columns
  const to = Math.min(items.length, from + pool)
  // What has the place in the order of Tab may be out of sight; then the first in sight takes it.
  const inTabOrder = current >= from && current < to ? current : from
  const id = useId()
  // A slot that shows what it showed is the same object again, which Preact passes over.
  const slots = useMemo<Slot[]>(() => [], [items, version, pool, columns])
  const slotOf = (n: number): Slot => {
    const slot = n % pool
    const tabindex = n === inTabOrder ? 0 : -1
    const known = slots[slot]
    if (known?.n === n && known.tabindex === tabindex) return known
    const item = items[n]
    const view = html`<li
      key=${slot}
      id=${`${id}-${slot}`}
      aria-setsize=${items.length}
      aria-posinset=${n + 1}
      style=${{
        left: `${((n % columns) * 100) / columns}%`,
        transform: `translateY(${Math.floor(n / columns) * rowHeight}px)`,
      }}
    >
      <button type="button" class="tile" data-n=${n} tabindex=${tabindex}>${item && render(item)}</button>
    </li>`
    const made: Slot = { n, tabindex, view }
    slots[slot] = made
    return made
  }
  const shown: Slot[] = []
  for (let n = from; n < to; n++) shown.push(slotOf(n))
  const inOrder = shown.map(({ n }) => `${id}-${n % pool}`).join(' ')
  shown.sort((a, b) => (a.n % pool) - (b.n % pool))

  return html`<div class="grid-box" ref=${box} tabindex="-1" onScroll=${onScroll} onKeyDown=${onKeyDown}>
    <ul
      class="grid"
      aria-label=${label}
      aria-owns=${inOrder}
      style=${{
        height: `${rows * rowHeight}px`,
        '--tile-width': `calc(${100 / columns}% - 8px)`,
        '--tile-height': `${rowHeight - 8}px`,
      }}
      onFocusIn=${(event: Event) => {
        const n = numberOf(event)
        if (n !== undefined) setCurrent(n)
      }}
      onClick=${(event: Event) => {
        const item = items[numberOf(event) ?? -1]
        if (item) onOpen(item)
      }}
    >
      ${shown.map(({ view }) => view)}
    </ul>
  </div>`
}

/** Of the item that an event is about. */
function numberOf({ target }: Event): number | undefined {
  const tile = target instanceof Element ? target.closest<HTMLElement>('[data-n]') : null
  return tile ? Number(tile.dataset.n) : undefined
}
