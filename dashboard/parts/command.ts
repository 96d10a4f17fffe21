import { useState } from 'preact/hooks'
import { html, type View } from '../html.ts'

/** A command to paste, what it does, and a button that takes it to the clipboard. */
export function CommandLine({ run, purpose }: { run: string; purpose: string }): View {
  const [copied, setCopied] = useState(false)
  const copy = async () => {
    await navigator.clipboard.writeText(run).catch(() => {})
    setCopied(true)
    setTimeout(() => setCopied(false), 1500)
  }
  return html`<div class="command">
    <code>${run}</code>
    <button type="button" class="quiet" onClick=${copy} aria-label=${`Copy ${run}`}>
      ${copied ? 'Copied' : 'Copy'}
    </button>
    <p>${purpose}</p>
  </div>`
}
