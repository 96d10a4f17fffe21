import { useState } from 'preact/hooks'
import type { RecentDecision, RecentDecisions } from '../../src/dashboard/recent-decisions.ts'
import { requestsVersion } from '../fleet.ts'
import { html, type View } from '../html.ts'
import { moment } from '../model/format.ts'
import { CommandLine } from '../parts/command.ts'
import { Empty } from '../parts/empty.ts'
import { useLoaded } from '../parts/loaded.ts'
import { linkTo } from '../route.ts'

type Answer = RecentDecisions & { kept: boolean }

/** What was decided lately, by whom and why: the end of the decision log. */
export function AuditView(): View {
  const [text, setText] = useState('')
  const { value, error } = useLoaded<Answer>('decisions', requestsVersion.value)
  const found = value?.decisions.filter(decision => matches(decision, text.trim().toLowerCase())) ?? []
  return html`<section class="page" aria-labelledby="audit-title">
    <div class="title-row"><h1 id="audit-title">Audit</h1><p class="muted">the latest decisions about requests</p>
      <input type="search" aria-label="Find a decision" placeholder="Node, name, reason …" value=${text} onInput=${(
        event: Event,
      ) => setText((event.target as HTMLInputElement).value)} /></div>
    ${error && html`<p class="notice bad" role="alert">${error}</p>`}
    ${value && value.broken > 0 && html`<p class="notice bad" role="alert">${value.broken} of the latest lines are no entries, or were changed. Verify the log.</p>`}
    ${value && !value.kept && html`<${Empty} title="No decision log here">This server decides nothing itself; whoever does keeps the log.<//>`}
    ${value?.kept && found.length === 0 && html`<${Empty} title="No decision">${text ? 'None is like that.' : 'None was made yet.'}<//>`}
    ${found.length > 0 && html`<${Table} decisions=${found} />`}
    ${value?.kept && html`<${CommandLine} run="bin/rollcall audit verify" purpose="proves on the server that the log is whole: each entry holds the hash of the one before" />`}
  </section>`
}

function matches(
  { node, request, reason, outcome, requester, decidedBy, sans, message }: RecentDecision,
  text: string,
): boolean {
  if (text === '') return true
  const all = [node, request, reason, outcome, requester, decidedBy, message, ...sans.map(({ name }) => name)]
  return all.some(part => part.toLowerCase().includes(text))
}

function Table({ decisions }: { decisions: RecentDecision[] }): View {
  return html`<div class="card table-card" role="region" aria-label="Decisions" tabindex="0"><table>
    <thead><tr><th scope="col">When</th><th scope="col">Outcome</th><th scope="col">Node</th><th scope="col">Names, and what proves them</th><th scope="col">Request</th></tr></thead>
    <tbody>${decisions.map(
      ({ seq, time, outcome, reason, message, node, sans, request, decidedBy, policy }) =>
        html`<tr key=${seq}>
          <td>${moment(Date.parse(time) / 1000)}<br /><small>no. ${seq}</small></td>
          <td><b>${outcome}</b> ${reason}<br /><small>${message}</small>${(decidedBy || policy) && html`<br /><small title=${policy}>by ${decidedBy || `policy ${policy.split(' ')[0]}`}</small>`}</td>
          <td class="short">${node && html`<a href=${linkTo('fleet', node)}>${node}</a>`}</td>
          <td>${sans.map(({ name, proof }) => html`<div><code>${name}</code> <small>${proof || 'unproven'}</small></div>`)}</td>
          <td class="short"><a href=${linkTo('requests', request)}>${request}</a></td>
        </tr>`,
    )}</tbody></table></div>`
}
