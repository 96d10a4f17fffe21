import { effect, signal, untracked } from '@preact/signals'
import { render } from 'preact'
import { connection, follow, forgetFleet } from './fleet.ts'
import { html, type View } from './html.ts'
import { linkTo, route, type ViewName, views } from './route.ts'
import { begin, end, keepSession, login, who } from './session.ts'
import { AuditView } from './views/audit-view.ts'
import { DoctorView } from './views/doctor-view.ts'
import { ExpiryView } from './views/expiry-view.ts'
import { FleetView } from './views/fleet-view.ts'
import { LinkView } from './views/link-view.ts'
import { LoginView } from './views/login-view.ts'
import { openRequests, RequestsView } from './views/requests-view.ts'
import { RolloverView } from './views/rollover-view.ts'

const shown: Record<ViewName, { label: string; component: () => View }> = {
  fleet: { label: 'Fleet', component: FleetView },
  requests: { label: 'Requests', component: RequestsView },
  expiry: { label: 'Expiry', component: ExpiryView },
  rollover: { label: 'Rollover', component: RolloverView },
  doctor: { label: 'Doctor', component: DoctorView },
  audit: { label: 'Audit', component: AuditView },
}

const themes = { auto: 'system', light: 'light', dark: 'dark' } as const
type Theme = keyof typeof themes
const storedTheme = localStorage.getItem('rollcall.theme')
const theme = signal<Theme>(storedTheme === 'light' || storedTheme === 'dark' ? storedTheme : 'auto')
effect(() => {
  document.documentElement.dataset.theme = theme.value
  localStorage.setItem('rollcall.theme', theme.value)
})

function App(): View {
  if (login.value.state === 'asking')
    return html`<main class="login" aria-busy="true"><p class="muted">One moment …</p></main>`
  if (login.value.state === 'offered')
    return html`<${LinkView} key=${login.value.offer.token} offer=${login.value.offer} />`
  if (login.value.state === 'out') return html`<${LoginView} message=${login.value.message} />`
  const { view } = route.value
  document.title = `${shown[view].label} · Rollcall`
  return html`<a class="skip" href="#main" onClick=${skip}>Skip to the content</a>
    <${TopBar} />
    <nav aria-label="Views">${views.map(
      name =>
        html`<a key=${name} href=${linkTo(name)} aria-current=${name === view ? 'page' : undefined}>${shown[name].label}${
          name === 'requests' &&
          openRequests() > 0 &&
          html` <b class="count">${openRequests().toLocaleString('en')}<span class="hidden"> open</span></b>`
        }</a>`,
    )}</nav>
    <main id="main" tabindex="-1">${
      connection.value.state === 'refused'
        ? html`<div class="page"><h1>Not yours to see</h1><p class="notice bad" role="alert">${connection.value.message}</p></div>`
        : html`<${shown[view].component} />`
    }</main>`
}

function skip(event: Event): void {
  event.preventDefault()
  document.getElementById('main')?.focus()
}

const states = {
  connecting: 'Connecting …',
  live: 'Live',
  lost: 'Connection lost, trying again …',
  refused: 'Refused',
}

function TopBar(): View {
  const { state } = connection.value
  const order: Theme[] = ['auto', 'light', 'dark']
  return html`<header class="top">
    <p class="wordmark"><img src="/dashboard/icon.svg" alt="" width="26" height="26" /> Rollcall</p>
    <p class="live" role="status"><i class=${`live-dot is-${state}`} aria-hidden="true" />${states[state]}</p>
    <span class="who" title=${who.value?.groups.join(', ')}>${who.value?.user}</span>
    <button type="button" class="quiet" onClick=${() => {
      theme.value = order[(order.indexOf(theme.value) + 1) % order.length] ?? 'auto'
    }}><span class="wide-text">Theme: </span><span class="narrow-text" aria-hidden="true">◐ </span>${themes[theme.value]}</button>
    <button type="button" class="quiet" onClick=${end}>Log out</button>
  </header>`
}

/** The fleet is followed while somebody is logged in. */
let following: AbortController | undefined
effect(() => {
  if (login.value.state === 'in') {
    if (following) return
    following = new AbortController()
    void follow(following.signal)
  } else {
    following?.abort()
    following = undefined
    untracked(forgetFleet)
  }
})

const root = document.getElementById('app')
if (root) render(html`<${App} />`, root)
keepSession()
void begin()
// A link that is opened where the page is already.
addEventListener('hashchange', () => {
  if (location.hash.startsWith('#key=')) void begin()
})
