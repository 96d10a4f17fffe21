import { useEffect } from 'preact/hooks'
import type { Rotations } from '../../src/dashboard/rotations.ts'
import { html, type View } from '../html.ts'
import { moment, plural } from '../model/format.ts'
import { Empty } from '../parts/empty.ts'
import { Glyph } from '../parts/glyph.ts'
import { useLoaded } from '../parts/loaded.ts'

type Rotation = Rotations['rotations'][number]

const roles = ['apiserver-serving', 'client', 'kubelet-serving']

/** Milliseconds between two looks. */
const pace = 5000

/** Each role's CA: where its rotation stands, what it waits for, and who has answered the call. */
export function RolloverView(): View {
  const { value, error, again } = useLoaded<Rotations>('rotations')
  useEffect(() => {
    const timer = setTimeout(again, pace)
    return () => clearTimeout(timer)
  }, [value, error])
  return html`<section class="page" aria-labelledby="rollover-title">
    <div class="title-row"><h1 id="rollover-title">CA rollover</h1></div>
    ${error && html`<p class="notice bad" role="alert">${error}</p>`}
    ${value && html`<${Board} value=${value} />`}
  </section>`
}

function Board({ value: { served, way, rotations } }: { value: Rotations }): View {
  return html`${
    rotations.length === 0 &&
    html`<${Empty} title="No rotation">${
      served
        ? 'No CA is being replaced, and none has been: a CARotation would show here, phase by phase.'
        : 'This cluster serves no CARotation; rotations done by other means are not seen from here.'
    }<//>`
  }
    ${roles.map(role => {
      const rotation = rotations.find(one => one.role === role)
      return rotation && html`<${RoleBoard} key=${role} way=${way} rotation=${rotation} />`
    })}`
}

function RoleBoard({ way, rotation }: Pick<Rotations, 'way'> & { rotation: Rotation }): View {
  const { name, role, from, to, phase, paused, reason, author, gates, blockers, latestStart } = rotation
  const at = way.indexOf(phase)
  return html`<section class="card rotation">
    <h2>${role}: CA ${from} → ${to}</h2>
    <p class="muted">${name}, ${reason.toLowerCase()}, begun by ${author}${rotation.created ? ` ${moment(Date.parse(rotation.created) / 1000)}` : ''}</p>
    <ol class="phases">
      ${way.map(
        (step, n) =>
          html`<li key=${step} class=${at < 0 || n > at ? 'ahead' : n === at ? 'here' : 'done'} aria-current=${n === at ? 'step' : undefined}>${spaced(step)}</li>`,
      )}
    </ol>
    ${(at < 0 || paused) && html`<p class="notice">${paused ? 'Paused.' : `It is off the usual way: ${spaced(phase)}.`}</p>`}
    ${latestStart && html`<p>Has to begin by ${moment(Date.parse(latestStart) / 1000)}.</p>`}
    <${RollCall} consumers=${rotation.consumers} />
    ${
      gates.length > 0 &&
      html`<table><caption>Gates</caption>
        <thead><tr><th scope="col">Gate</th><th scope="col">State</th><th scope="col">Proven</th><th scope="col">What keeps it closed</th></tr></thead>
        <tbody>${gates.map(
          gate =>
            html`<tr key=${gate.name}><th scope="row">${gate.name}</th>
              <td><${Glyph} shape=${gate.open ? 'open' : 'closed'} tone=${gate.open ? 'good' : 'late'} /> ${gate.open ? 'open' : 'closed'}</td>
              <td>${gate.proven} of ${gate.total}</td><td>${gate.blockers.join(', ') || 'nothing'}</td></tr>`,
        )}</tbody></table>`
    }
    ${blockers.length > 0 && html`<h3>Waits for</h3><ul>${blockers.map(blocker => html`<li>${blocker}</li>`)}</ul>`}
  </section>`
}

type Consumer = Rotation['consumers'][number]

/** Cells that are drawn; beyond it the bar has to do. */
const mostCells = 2000

/** The roll call itself: who of those that verify by this CA has proven to trust the new one. */
function RollCall({ consumers }: { consumers: Consumer[] }): View {
  const called = consumers.toSorted((a, b) => collator.compare(a.id, b.id))
  if (called.length === 0) return null
  // Who was excluded by name is shown, and counts for nothing.
  const counting = called.filter(({ state }) => state !== 'Excluded')
  const silent = counting.filter(({ answered }) => !answered)
  return html`<div class="roll-call">
    <p><b class="big">${(counting.length - silent.length).toLocaleString('en')}</b> of ${plural(counting.length, 'consumer')} answered</p>
    <div class="cells" aria-hidden="true">${called
      .slice(0, mostCells)
      .map(({ id, kind, state, answered }) => {
        const stands = answered ? 'Answered' : state
        return html`<i key=${id} class=${`cell is-${stands.toLowerCase()}`} title=${`${kind} ${id}: ${stands}`} />`
      })}</div>
    ${
      silent.length > 0 &&
      html`<h3>Not yet</h3><ul class="plain silent">${silent
        .slice(0, mostNamed)
        .map(
          ({ id, state, why }) =>
            html`<li key=${id}><code>${id}</code> <small>${state === 'Live' ? '' : `${state.toLowerCase()}, `}${why}</small></li>`,
        )}</ul>`
    }
    ${silent.length > mostNamed && html`<p class="muted">and ${(silent.length - mostNamed).toLocaleString('en')} more</p>`}
  </div>`
}

/** Of those who have not answered. */
const mostNamed = 12
const collator = new Intl.Collator('en', { numeric: true })

/** `IssuerSwitch` → `Issuer switch`. */
function spaced(phase: string): string {
  const words = phase.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
  return words.charAt(0).toUpperCase() + words.slice(1)
}
