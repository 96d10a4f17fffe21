import { useEffect, useRef, useState } from 'preact/hooks'
import type { ShownRequest } from '../../src/dashboard/requests/show-request.ts'
import { html, type View } from '../html.ts'
import { call, who } from '../session.ts'

const outcomes: Record<string, string> = {
  write: 'Written.',
  first: 'Noted as the first of two approvals: somebody else has to approve it too.',
  already: 'That was decided already.',
}

/** Takes the focus, which its button had. */
function Done({ text }: { text: string }): View {
  const element = useRef<HTMLParagraphElement>(null)
  useEffect(() => element.current?.focus(), [])
  return html`<p ref=${element} tabindex="-1" class="notice" role="status">${text}</p>`
}

/** Approve or deny, as the viewer and with his reason. The server decides by the rules of `csr approve`, the API by his rights. */
export function DecisionForm({ shown, again }: { shown: ShownRequest; again(): void }): View {
  const [reason, setReason] = useState('')
  const [accepted, setAccepted] = useState(false)
  const [answer, setAnswer] = useState<{ bad: boolean; text: string } | undefined>(undefined)
  const [busy, setBusy] = useState(false)
  const { name, uid, claims, mayDecide, conditions, problem } = shown
  if (conditions.some(({ type }) => type === 'Approved' || type === 'Denied'))
    return answer ? html`<${Done} text=${answer.text} />` : null
  const unproven = claims.filter(({ evidence, wildcard }) => !evidence && !wildcard)
  const needsReason = unproven.length > 0
  const mayApprove = mayDecide && !problem && (!needsReason || (accepted && reason.trim() !== ''))

  async function decide(verdict: 'approve' | 'deny') {
    setBusy(true)
    try {
      const order = { uid, reason, ...(verdict === 'approve' && { acceptUnproven: needsReason && accepted }) }
      const { outcome } = await call<{ outcome: string }>(
        `requests/${encodeURIComponent(name)}/${verdict}`,
        order,
      )
      setAnswer({ bad: false, text: outcomes[outcome] ?? outcome })
      again()
    } catch (error) {
      setAnswer({ bad: true, text: error instanceof Error ? error.message : String(error) })
    }
    setBusy(false)
  }

  return html`<section class="card decision" aria-labelledby="decide-title">
    <h3 id="decide-title">Decide as ${who.value?.user}</h3>
    ${!mayDecide && html`<p class="notice">You may not decide requests of this signer: that takes “update certificatesigningrequests/approval” and “approve” on the signer.</p>`}
    <label for="reason">Reason</label>
    <textarea id="reason" rows="2" maxlength="500" disabled=${!mayDecide} value=${reason} onInput=${(
      event: Event,
    ) => setReason((event.target as HTMLTextAreaElement).value)}></textarea>
    ${
      needsReason &&
      html`<label class="check">
        <input type="checkbox" checked=${accepted} disabled=${!mayDecide} onChange=${(event: Event) =>
          setAccepted((event.target as HTMLInputElement).checked)} />
        <span>I vouch for ${unproven.map(({ shown }) => shown).join(', ')}, which nothing proves. My reason is kept with the approval.</span>
      </label>`
    }
    <div class="buttons">
      <button type="button" disabled=${!mayApprove || busy} onClick=${() => decide('approve')}>Approve</button>
      <button type="button" class="danger" disabled=${!mayDecide || reason.trim() === '' || busy} onClick=${() => decide('deny')}>Deny</button>
      <span class="muted">${needsReason ? 'An approval needs your word and a reason, a denial a reason.' : 'A denial needs a reason.'} Neither can be taken back.</span>
    </div>
    ${answer && html`<p class=${`notice${answer.bad ? ' bad' : ''}`} role="alert">${answer.text}</p>`}
  </section>`
}
