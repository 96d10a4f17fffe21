import type { NodeDetail } from '../../src/dashboard/node-detail.ts'
import { nodes, nodesVersion, now, requestsVersion } from '../fleet.ts'
import { html, type View } from '../html.ts'
import { duration, left, moment, percent } from '../model/format.ts'
import { certificateState, nodeState, rotationWindow, stateTexts, usedPart } from '../model/node-state.ts'
import type { LifeRow, RequestRow } from '../model/rows.ts'
import { AgeBar } from '../parts/age-bar.ts'
import { CommandLine } from '../parts/command.ts'
import { Glyph } from '../parts/glyph.ts'
import { useLoaded } from '../parts/loaded.ts'
import { Panel } from '../parts/panel.ts'
import { go, linkTo } from '../route.ts'
import { requestStates } from './request-states.ts'

/** One node: its certificates, its addresses, what it asked for. */
export function NodePanel({ name }: { name: string }): View {
  const row = nodes.get(name)
  const version = `${nodesVersion.value} ${requestsVersion.value}`
  // A fleet of thousands changes all the time; this node does not.
  const { value, error } = useLoaded<NodeDetail>(
    `nodes/${encodeURIComponent(name)}`,
    nodes.size > 500 ? '' : version,
  )
  const close = () => go('fleet')
  if (!row)
    return html`<${Panel} title=${name} of=${name} onClose=${close}><p class="muted">There is no such node any more.</p><//>`
  const state = nodeState(row, now.value)
  return html`<${Panel} title=${name} of=${name} onClose=${close}>
    <p class="panel-state"><${Glyph} shape=${state} /> <b>${stateTexts[state].label}</b> <span class="muted">${stateTexts[state].means}</span></p>
    <${Certificate} kind="Client" life=${row[2]} />
    <${Certificate} kind="Serving" life=${row[3]} />
    ${error && html`<p class="notice bad" role="alert">${error}</p>`}
    ${value && html`<${Facts} detail=${value} />`}
    <${CommandLine} run=${`rollcall doctor --node ${name}`} purpose="looks for what is wrong with it" />
  <//>`
}

function Certificate({ kind, life }: { kind: string; life: LifeRow | 0 }): View {
  if (life === 0)
    return html`<section class="card"><h3>${kind} certificate</h3>
      <p class="muted">None is known: no request holds one, nor does the ledger of this server.</p></section>`
  const time = now.value
  const [notBefore, notAfter, issuer] = life
  const at = (part: number) => notBefore + part * (notAfter - notBefore)
  const state = certificateState(life, time)
  return html`<section class="card">
    <h3>${kind} certificate</h3>
    <${AgeBar} kind=${percent(Math.max(0, usedPart(life, time)))} life=${life} now=${time} />
    <dl>
      <dt>Valid from</dt><dd>${moment(notBefore)}</dd>
      <dt>${state === 'due' ? 'Is renewed' : 'Renewal'}</dt>
      <dd>${moment(at(rotationWindow.from))} to ${moment(at(rotationWindow.to))}</dd>
      <dt>Ends</dt><dd>${moment(notAfter)} (${left(notAfter, time)})</dd>
      <dt>Issued by</dt><dd><code>${issuer}</code></dd>
    </dl>
  </section>`
}

function Facts({ detail }: { detail: NodeDetail }): View {
  const { addresses, conditions, kubelet, system, requests } = detail
  const notable = conditions.filter(({ type, status }) => (type === 'Ready') !== (status === 'True'))
  return html`<section class="card">
      <h3>Node</h3>
      <dl>
        ${addresses.map(({ type, address }) => html`<dt>${type}</dt><dd><code>${address}</code></dd>`)}
        ${kubelet && html`<dt>Kubelet</dt><dd>${kubelet}</dd>`}
        ${system && html`<dt>System</dt><dd>${system}</dd>`}
        ${detail.created && html`<dt>Joined</dt><dd>${moment(Date.parse(detail.created) / 1000)}</dd>`}
        ${notable.map(({ type, status, reason, message }) => html`<dt>${type} ${status}</dt><dd>${reason}: ${message}</dd>`)}
      </dl>
    </section>
    <section class="card">
      <h3>Requests</h3>
      ${
        requests.length === 0
          ? html`<p class="muted">None is kept: Kubernetes deletes them an hour after they were answered.</p>`
          : html`<ul class="plain">${requests.slice(0, 20).map(request => html`<${RequestLine} key=${request.uid} request=${request} />`)}</ul>`
      }
    </section>`
}

function RequestLine({ request }: { request: RequestRow }): View {
  const { label, shape, tone } = requestStates[request.state]
  return html`<li class="request-line">
    <${Glyph} shape=${shape} tone=${tone} />
    <a href=${linkTo('requests', request.name)}>${request.kind} ${request.name}</a>
    <span class="muted">${label}${request.reason ? `: ${request.reason}` : ''}, ${duration(now.value - request.created)} ago</span>
  </li>`
}
