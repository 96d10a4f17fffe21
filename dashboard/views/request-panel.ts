import type { ShownRequest } from '../../src/dashboard/requests/show-request.ts'
import { requests, requestsVersion } from '../fleet.ts'
import { html, type View } from '../html.ts'
import { duration, moment } from '../model/format.ts'
import { CommandLine } from '../parts/command.ts'
import { useLoaded } from '../parts/loaded.ts'
import { Panel } from '../parts/panel.ts'
import { go, linkTo } from '../route.ts'
import { DecisionForm } from './decision-form.ts'

/** One request: why it stands where it stands, what it asks for beside what is proven, and the decision. */
export function RequestPanel({ name }: { name: string }): View {
  requestsVersion.value
  const row = requests.get(name)
  const { value, error, again } = useLoaded<ShownRequest>(
    `requests/${encodeURIComponent(name)}`,
    `${row?.state} ${row?.reason} ${row?.message}`,
  )
  return html`<${Panel} title=${name} of=${name} onClose=${() => go('requests')}>
    ${error && html`<p class="notice bad" role="alert">${error}</p>`}
    ${!value && !error && html`<p class="muted">Looking …</p>`}
    ${value && html`<${Why} shown=${value} /><${Names} shown=${value} /><${DecisionForm} shown=${value} again=${again} /><${Commands} explanation=${value.explanation} /><${Details} shown=${value} />`}
  <//>`
}

function Why({ shown: { explanation } }: { shown: ShownRequest }): View {
  const { summary, waitsFor, evidence, unchecked } = explanation
  return html`<section class="card">
    <h3>Why</h3>
    <p class="lead">${summary}</p>
    ${waitsFor && html`<p><b>Waits for</b> ${waitsFor}</p>`}
    ${
      evidence.length > 0 &&
      html`<ul class="evidence">${evidence.map(({ fact, source }) => html`<li>${fact}<small>${source}</small></li>`)}</ul>`
    }
    ${unchecked.map(what => html`<p class="muted">Not looked at: ${what}</p>`)}
  </section>`
}

function Commands({ explanation: { commands } }: Pick<ShownRequest, 'explanation'>): View {
  if (commands.length === 0) return null
  return html`<details class="card">
    <summary>In a terminal</summary>
    ${commands.map(command => html`<${CommandLine} ...${command} />`)}
  </details>`
}

function Names({ shown: { claims, node, problem } }: { shown: ShownRequest }): View {
  return html`<section class="card">
    <h3>Asks for, and what proves it</h3>
    ${problem && html`<p class="notice bad">${problem}</p>`}
    ${
      claims.length === 0
        ? html`<p class="muted">No names or addresses.</p>`
        : html`<table class="claims">
            <thead><tr><th scope="col">Name</th><th scope="col">Proof</th></tr></thead>
            <tbody>${claims.map(
              ({ shown, evidence, wildcard }) =>
                html`<tr class=${evidence ? 'proven' : 'unproven'}>
                  <th scope="row"><code>${shown}</code></th>
                  <td>${wildcard ? 'a wildcard: never approved' : evidence ? `✓ ${evidence}` : '✗ nothing proves it'}</td>
                </tr>`,
            )}</tbody>
          </table>`
    }
    ${node && html`<${NodeAddresses} node=${node} />`}
  </section>`
}

function NodeAddresses({ node }: { node: NonNullable<ShownRequest['node']> }): View {
  if (!node.exists) return html`<p>Its subject names node <b>${node.name}</b>, which does not exist.</p>`
  return html`<p>Node <a href=${linkTo('fleet', node.name)}>${node.name}</a> says that it has
    ${node.addresses.map(({ type, address }, n) => html`${n > 0 ? ', ' : ' '}<code title=${type}>${address}</code>`)}</p>`
}

function Details({ shown }: { shown: ShownRequest }): View {
  const {
    requester,
    groups,
    signer,
    usages,
    duration: asked,
    created,
    subject,
    key,
    oddities,
    conditions,
  } = shown
  return html`<section class="card">
    <h3>Request</h3>
    <dl>
      <dt>Asked by</dt><dd><code>${requester}</code><br /><small>${groups.join(', ')}</small></dd>
      <dt>Signer</dt><dd><code>${signer}</code></dd>
      ${subject && html`<dt>Subject</dt><dd><code>${subject}</code></dd>`}
      ${key && html`<dt>Key</dt><dd>${key}</dd>`}
      <dt>Usages</dt><dd>${usages.join(', ')}</dd>
      ${asked && html`<dt>For</dt><dd>${duration(asked)}</dd>`}
      ${created && html`<dt>Made</dt><dd>${moment(Date.parse(created) / 1000)}</dd>`}
      ${oddities.map(text => html`<dt>Oddity</dt><dd>${text}</dd>`)}
      ${conditions.map(({ type, reason, message }) => html`<dt>${type}</dt><dd><b>${reason}</b> ${message}</dd>`)}
    </dl>
  </section>`
}
