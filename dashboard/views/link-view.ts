import { useLayoutEffect, useRef } from 'preact/hooks'
import { html, type View } from '../html.ts'
import { accept, decline, type Offer, who } from '../session.ts'

/**
 * Whose link it is, before it is used: a page or a message can lead here by a link of somebody else. Nothing is accepted by
 * the key that happens to be pressed: the focus is on the question.
 */
export function LinkView({ offer }: { offer: Offer }): View {
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus(), [])
  const { user, groups } = offer
  const before = who.value?.user
  return html`<main class="login">
    <div class="card">
      <p class="wordmark"><img src="/dashboard/icon.svg" alt="" width="36" height="36" /> Rollcall</p>
      <h1 ref=${heading} tabindex="-1">Is this you?</h1>
      <dl>
        <dt>User</dt><dd><code>${user}</code></dd>
        ${groups.length > 0 && html`<dt>Groups</dt><dd><code>${groups.join(', ')}</code></dd>`}
        ${before !== undefined && html`<dt>This tab</dt><dd>is <code>${before}</code> until now</dd>`}
      </dl>
      <p>Go on only if you made this link yourself. With the link of somebody else you would see what he may see, and
        decide in his name.</p>
      <div class="buttons">
        <button type="button" onClick=${() => void accept(offer)}>Go on as ${user}</button>
        <button type="button" class="quiet" onClick=${() => void decline(offer)}>It is not mine</button>
      </div>
    </div>
  </main>`
}
