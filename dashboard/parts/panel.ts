import type { ComponentChildren } from 'preact'
import { useEffect, useLayoutEffect, useRef } from 'preact/hooks'
import { html, type View } from '../html.ts'

interface PanelProps {
  title: string
  /** What it is about: another one takes the focus anew. */
  of: string
  onClose(): void
  children?: ComponentChildren
}

/** Details beside the list they belong to; over it on a small screen. Takes the focus, and gives it back. */
export function Panel({ title, of, onClose, children }: PanelProps): View {
  const heading = useRef<HTMLHeadingElement>(null)
  // Before the next key, which an effect might come after.
  useLayoutEffect(() => {
    const before = document.activeElement
    heading.current?.focus()
    return () => {
      if (before instanceof HTMLElement && before.isConnected) before.focus()
    }
  }, [of])
  useEffect(() => {
    // Wherever the focus is: what had it may have gone with a decision.
    const onKeyDown = (event: KeyboardEvent) => {
      if (event.key === 'Escape') onClose()
    }
    document.addEventListener('keydown', onKeyDown)
    return () => document.removeEventListener('keydown', onKeyDown)
  })
  return html`<aside class="panel" aria-label=${title}>
    <header>
      <h2 ref=${heading} tabindex="-1">${title}</h2>
      <button type="button" class="quiet" onClick=${onClose}>Close</button>
    </header>
    ${children}
  </aside>`
}
