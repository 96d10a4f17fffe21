import { useState } from 'preact/hooks'
import { html, type View } from '../html.ts'
import { CommandLine } from '../parts/command.ts'
import { enter } from '../session.ts'

/** Where somebody comes who has no link, or whose session is over. */
export function LoginView({ message }: { message: string | undefined }): View {
  const [token, setToken] = useState('')
  const submit = (event: Event) => {
    event.preventDefault()
    void enter(token.trim())
  }
  return html`<main class="login">
    <div class="card">
      <p class="wordmark"><img src="/dashboard/icon.svg" alt="" width="36" height="36" /> Rollcall</p>
      <h1>Who is looking?</h1>
      ${message && html`<p class="notice bad" role="alert">${message}</p>`}
      <p>Make a link with your own kubeconfig. It opens this page as you, once, within two minutes.</p>
      <${CommandLine} run="bin/rollcall dashboard" purpose="add --kubeconfig FILE where it is not the usual one" />
      <details>
        <summary>Or use a bearer token for the API</summary>
        <form onSubmit=${submit}>
          <label for="token">Token</label>
          <input
            id="token"
            type="password"
            autocomplete="off"
            spellcheck="false"
            value=${token}
            onInput=${(event: InputEvent) => setToken((event.target as HTMLInputElement).value)}
          />
          <button type="submit" disabled=${token.trim() === ''}>Log in</button>
          <p class="muted">It goes to this server, once, for a session, and is kept nowhere.</p>
        </form>
      </details>
    </div>
  </main>`
}
