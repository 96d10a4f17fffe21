import { useState } from 'preact/hooks'
import { html, type View } from '../html.ts'

/** What the button says after it was pressed. A browser may refuse the clipboard: by its settings, or where there is no TLS. */
const outcomes = { copied: 'Copied', refused: 'Refused: copy it by hand' } as const

/** A command to paste, what it does, and a button that takes it to the clipboard. */
export function CommandLine({ run, purpose }: { run: string; purpose: string }): View {
  const [outcome, setOutcome] = useState<keyof typeof outcomes | undefined>(undefined)
  const copy = async () => {
    const done = await write(run)
    setOutcome(done ? 'copied' : 'refused')
    setTimeout(() => setOutcome(undefined), done ? 1500 : 6000)
  }
  return html`<div class="command">
    <code>${run}</code>
    <button type="button" class="quiet" onClick=${copy} aria-label=${outcome ? undefined : `Copy ${run}`}>
      <span role="status">${outcome ? outcomes[outcome] : 'Copy'}</span>
    </button>
    <p>${purpose}</p>
  </div>`
}

async function write(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    return false
  }
}
