import { useState } from 'preact/hooks'
import type { RecentDecision, RecentDecisions } from '../../src/dashboard/recent-decisions.ts'
import { requestsVersion } from '../fleet.ts'
import { html, type View } from '../html.ts'
import { moment } from '../model/format.ts'
import { CommandLine } from '../parts/command.ts'
import { Empty } from '../parts/empty.ts'
import { Glyph, type Shape } from '../parts/glyph.ts'
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
    ${found.length > 0 && html`<${List} decisions=${found} />`}
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

/** Words and tones of the log's outcomes; those of others are shown as they are. */
const outcomes: Record<string, { label: string; shape: Shape; tone: string }> = {
  Approve: { label: 'Approved', shape: 'good', tone: 'good' },
  Deny: { label: 'Denied', shape: 'refused', tone: 'refused' },
}

function List({ decisions }: { decisions: RecentDecision[] }): View {
  return html`<ol class="plain card">${decisions.map(decision => html`<${Entry} key=${decision.seq} of=${decision} />`)}</ol>`
}

function Entry({ of }: { of: RecentDecision }): View {
  const { seq, time, outcome, reason, message, node, sans, request, decidedBy, policy } = of
  const { label, shape, tone } = outcomes[outcome] ?? { label: outcome, shape: 'waiting', tone: 'waiting' }
  return html`<li class="entry">
    <p class="entry-when">${moment(Date.parse(time) / 1000)}<br /><small>no. ${seq}</small></p>
    <div>
      <p><${Glyph} shape=${shape} tone=${tone} /> <b>${label}</b> ${reason}
        ${node && html` for <a href=${linkTo('fleet', node)}>${node}</a>`}</p>
      <p><small>${message}</small></p>
      ${sans.length > 0 && html`<p class="names">${sans.map(({ name, proof }) => html`<span><code>${name}</code> <small class=${proof ? '' : 'bad-text'}>${proof || 'unproven'}</small></span>`)}</p>`}
    </div>
    <p class="entry-who"><a href=${linkTo('requests', request)}>${request}</a><br /><small title=${policy}>${
      decidedBy ? `by ${decidedBy}` : policy && `by policy ${policy.split(' ')[0]}`
    }</small></p>
  </li>`
}
