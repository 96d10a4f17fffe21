import { signal } from '@preact/signals'
import { useEffect } from 'preact/hooks'
import { counts, now, requestList, requests } from '../fleet.ts'
import { html, type View } from '../html.ts'
import { duration } from '../model/format.ts'
import type { RequestRow } from '../model/rows.ts'
import { Empty } from '../parts/empty.ts'
import { Glyph } from '../parts/glyph.ts'
import { VirtualGrid } from '../parts/virtual-grid.ts'
import { go, route } from '../route.ts'
import { RequestPanel } from './request-panel.ts'
import { requestStates } from './request-states.ts'

const groups = {
  open: { label: 'Open', states: ['pending', 'held', 'approved'] },
  refused: { label: 'Refused', states: ['denied', 'failed'] },
  issued: { label: 'Issued', states: ['issued'] },
} as const
type Group = keyof typeof groups

const group = signal<Group>('open')

const contains = (of: Group, state: RequestRow['state']) =>
  (groups[of].states as readonly string[]).includes(state)

const countOf = (of: Group) => groups[of].states.reduce((sum, state) => sum + (counts.value[state] ?? 0), 0)

/** How many wait for somebody: shown beside the view's name. */
export const openRequests = (): number => countOf('open')

/** Who asks for what, and who waits for whom. */
export function RequestsView(): View {
  const rows = requestList.value.filter(({ state }) => contains(group.value, state))
  // What waits longest comes first, what was answered last comes first.
  rows.sort((a, b) =>
    group.value === 'open' ? a.created - b.created : (b.at ?? b.created) - (a.at ?? a.created),
  )
  const { name } = route.value
  const opened = name === undefined ? undefined : requests.get(name)
  useEffect(() => {
    // Whoever comes by a link finds the request in the list, too.
    const its = opened && (Object.keys(groups) as Group[]).find(of => contains(of, opened.state))
    if (its) group.value = its
  }, [name, opened !== undefined])
  const total = countOf(group.value)
  return html`<div class=${`split${name ? ' with-panel' : ''}`}>
    <section class="list" aria-labelledby="requests-title">
      <div class="title-row"><h1 id="requests-title">Requests</h1>
        <p class="muted">${total > rows.length ? `the ${rows.length.toLocaleString('en')} that matter first of ${total.toLocaleString('en')}` : ''}</p></div>
      <div class="chips" role="group" aria-label="Which requests">
        ${(Object.keys(groups) as Group[]).map(
          of =>
            html`<button type="button" key=${of} class="chip" aria-pressed=${group.value === of} onClick=${() => {
              group.value = of
            }}>${groups[of].label} <b>${countOf(of).toLocaleString('en')}</b></button>`,
        )}
      </div>
      ${
        rows.length === 0
          ? html`<${Empty} title=${group.value === 'open' ? 'Nobody waits' : 'None'}>
              ${group.value === 'open' ? 'Every request has its answer.' : 'Requests are kept for an hour after they were answered.'}
            <//>`
          : html`<${VirtualGrid}
              label="Requests"
              items=${rows}
              version=${now.value}
              minWidth=${4000}
              rowHeight=${92}
              render=${(row: RequestRow) => html`<${Line} row=${row} />`}
              onOpen=${(row: RequestRow) => go('requests', row.name)}
            />`
      }
    </section>
    ${name !== undefined && html`<${RequestPanel} key=${name} name=${name} />`}
  </div>`
}

function Line({ row }: { row: RequestRow }): View {
  const { label, shape, tone } = requestStates[row.state]
  const { node, by, asks, kind, reason, message } = row
  const foreign = node !== undefined && by.startsWith('system:node:') && by !== `system:node:${node}`
  return html`<span class="tile-head">
      <${Glyph} shape=${shape} tone=${tone} />
      <b class="tile-name">${node ?? row.name}</b>
      <span class="tag">${kind}</span>
      ${foreign && html`<span class="tag tone-refused">asked by ${by}</span>`}
      <span class=${`tile-state tone-${tone}`}>${label}${reason ? ` · ${reason}` : ''}</span>
    </span>
    <span class="line-text">${asks.length > 0 ? `asks for ${asks.join(', ')}` : `asked by ${by}`}</span>
    <span class="line-text muted">${node !== undefined && `${row.name} · `}${duration(now.value - row.created)} ago${message ? ` · ${message}` : ''}</span>`
}
