import { signal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import { complete, nodes, nodesVersion, now } from '../fleet.ts'
import { html, type View } from '../html.ts'
import { plural } from '../model/format.ts'
import {
  type NodeOrder,
  type NodeState,
  nodeStates,
  type PlacedNode,
  placeNodes,
  stateTexts,
} from '../model/node-state.ts'
import { AgeBar } from '../parts/age-bar.ts'
import { Empty } from '../parts/empty.ts'
import { Glyph } from '../parts/glyph.ts'
import { VirtualGrid } from '../parts/virtual-grid.ts'
import { go, route } from '../route.ts'
import { NodePanel } from './node-panel.ts'

const wanted = signal<ReadonlySet<NodeState>>(new Set())
const text = signal('')
const order = signal<NodeOrder>('worst')

/** Every node: its state, and how far the life of its two certificates has come. */
export function FleetView(): View {
  // With many nodes the ages of all need not be new every second.
  const step = nodes.size > 1000 ? 5 : 1
  const time = Math.floor(now.value / step) * step
  const version = nodesVersion.value
  const filter = { states: wanted.value, text: text.value, order: order.value }
  const { shown, counts, total } = useMemo(
    () => placeNodes(nodes.values(), time, filter),
    [version, time, filter.states, filter.text, filter.order],
  )
  const { name } = route.value
  return html`<div class=${`split${name ? ' with-panel' : ''}`}>
    <section class="list" aria-labelledby="fleet-title">
      <div class="title-row">
        <h1 id="fleet-title">Fleet</h1>
        <p class="muted">${complete.value ? summary(total, counts) : 'Calling the roll …'}</p>
      </div>
      <${RollBar} counts=${counts} total=${total} />
      <${Filters} counts=${counts} total=${total} />
      ${
        shown.length === 0
          ? html`<${Empty} title=${total === 0 ? 'No nodes yet' : 'No node is like that'}>
              ${total === 0 ? 'Nodes appear here as they join.' : 'Take a filter away to see the others.'}
            <//>`
          : html`<${VirtualGrid}
              label=${`${plural(shown.length, 'node')}`}
              items=${shown}
              version=${shown}
              minWidth=${228}
              rowHeight=${96}
              render=${(node: PlacedNode) => html`<${Tile} node=${node} time=${time} />`}
              onOpen=${(node: PlacedNode) => go('fleet', node.row[0])}
            />`
      }
    </section>
    ${name !== undefined && html`<${NodePanel} name=${name} />`}
  </div>`
}

function summary(total: number, counts: Record<NodeState, number>): string {
  const answered = counts.good + counts.due
  return answered === total
    ? `${plural(total, 'node')}, all present with valid certificates`
    : `${answered.toLocaleString('en')} of ${plural(total, 'node')} are well`
}

/** The whole fleet in one line, as parts of it. */
function RollBar({ counts, total }: { counts: Record<NodeState, number>; total: number }): View {
  if (total === 0) return null
  return html`<div class="roll-bar" aria-hidden="true">
    ${nodeStates
      .toReversed()
      .map(
        state =>
          counts[state] > 0 &&
          html`<i key=${state} class=${`tone-${state}`} style=${{ flexGrow: counts[state] }} title=${stateTexts[state].label} />`,
      )}
  </div>`
}

function Filters({ counts, total }: { counts: Record<NodeState, number>; total: number }): View {
  const toggle = (state: NodeState) => {
    const next = new Set(wanted.value)
    if (!next.delete(state)) next.add(state)
    wanted.value = next
  }
  const typed = (event: Event) => {
    text.value = (event.target as HTMLInputElement).value
  }
  return html`<div class="filters">
    <div class="chips" role="group" aria-label="Show only nodes that are">
      <button type="button" class="chip" aria-pressed=${wanted.value.size === 0} onClick=${() => {
        wanted.value = new Set()
      }}>All <b>${total.toLocaleString('en')}</b></button>
      ${nodeStates.map(
        state =>
          (counts[state] > 0 || wanted.value.has(state)) &&
          html`<button
            type="button"
            key=${state}
            class="chip"
            aria-pressed=${wanted.value.has(state)}
            title=${stateTexts[state].means}
            onClick=${() => toggle(state)}
          >
            <${Glyph} shape=${state} /> ${stateTexts[state].label} <b>${counts[state].toLocaleString('en')}</b>
          </button>`,
      )}
    </div>
    <div class="tools">
      <input type="search" aria-label="Find a node" placeholder="Find a node" value=${text.value} onInput=${typed} />
      <select aria-label="Order" value=${order.value} onChange=${(event: Event) => {
        order.value = (event.target as HTMLSelectElement).value as NodeOrder
      }}>
        <option value="worst">Worst first</option>
        <option value="expiry">Ends first</option>
        <option value="name">By name</option>
      </select>
    </div>
  </div>`
}

function Tile({ node: { row, state }, time }: { node: PlacedNode; time: number }): View {
  const [name, , client, serving] = row
  return html`<span class="tile-head">
      <${Glyph} shape=${state} />
      <b class="tile-name">${name}</b>
      <span class=${`tile-state tone-${state}`}>${stateTexts[state].label}</span>
    </span>
    <${AgeBar} kind="client" life=${client} now=${time} />
    <${AgeBar} kind="serving" life=${serving} now=${time} />`
}
