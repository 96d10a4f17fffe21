import { useMemo } from 'preact/hooks'
import { nodes, nodesVersion, now } from '../fleet.ts'
import { html, type View } from '../html.ts'
import { type Bucket, buckets, byIssuer, type Ending, endings } from '../model/expiry.ts'
import { duration, left, moment, plural, shortMoment } from '../model/format.ts'
import { certificateState } from '../model/node-state.ts'
import { Empty } from '../parts/empty.ts'
import { Glyph, type Shape } from '../parts/glyph.ts'
import { linkTo } from '../route.ts'

/** Rows of the list: the whole is on the fleet's page, in the order “Ends first”. */
const listed = 50

/** What ends when, and which CA has how many certificates out. */
export function ExpiryView(): View {
  const version = nodesVersion.value
  const minute = Math.floor(now.value / 10) * 10
  const all = useMemo(() => endings(nodes.values()), [version])
  const bars = useMemo(() => buckets(all, minute), [all, minute])
  const over = all.filter(({ life }) => life[1] <= minute).length
  return html`<section class="page" aria-labelledby="expiry-title">
    <div class="title-row"><h1 id="expiry-title">Expiry</h1>
      <p class="muted">${plural(all.length, 'certificate')}${over > 0 ? `, ${over.toLocaleString('en')} of them over` : ''}</p></div>
    ${
      all.length === 0
        ? html`<${Empty} title="No certificate is known">They appear here when they are issued.<//>`
        : html`<${Chart} bars=${bars} /><div class="columns"><${EndingTable} all=${all} /><${IssuerTable} all=${all} /></div>`
    }
  </section>`
}

function Chart({ bars }: { bars: Bucket[] }): View {
  const highest = Math.max(
    1,
    ...bars.map(({ client, serving, renewals }) => Math.max(client + serving, renewals)),
  )
  const first = bars[0]
  const last = bars.at(-1)
  if (!first || !last) return null
  const at = (part: number) => shortMoment(first.from + part * (last.to - first.from))
  return html`<figure class="chart card">
    <figcaption>When certificates end if nobody renews them, and when renewals are to be expected; a bar is ${duration(first.to - first.from)} wide.
      <span class="legend"><span><i class="swatch client" /> client</span><span><i class="swatch serving" /> serving</span><span><i class="swatch renewal" /> renewals</span></span></figcaption>
    <div class="plot" role="img" aria-label=${`At most ${Math.round(highest)} in one step; the last certificate ends ${moment(last.to)}. The list below says which.`}>
      <svg viewBox="0 0 100 40" preserveAspectRatio="none" aria-hidden="true">
        ${bars.map((bar, n) => html`<${Bar} key=${n} bar=${bar} left=${(100 * n) / bars.length} width=${100 / bars.length} scale=${38 / highest} />`)}
      </svg>
      <span class="plot-top">${Math.round(highest).toLocaleString('en')}</span>
    </div>
    <div class="axis"><span>now</span><span class="wide-tick">${at(0.25)}</span><span>${at(0.5)}</span><span class="wide-tick">${at(0.75)}</span><span>${at(1)}</span></div>
  </figure>`
}

function Bar({
  bar: { client, serving, renewals },
  left,
  width,
  scale,
}: {
  bar: Bucket
  left: number
  width: number
  scale: number
}): View {
  const [c, s, r] = [client * scale, serving * scale, renewals * scale]
  return html`<g>
    <rect class="renewal" x=${left} width=${width} y=${40 - r} height=${r} />
    <rect class="client" x=${left + width * 0.12} width=${width * 0.76} y=${40 - c} height=${c} />
    <rect class="serving" x=${left + width * 0.12} width=${width * 0.76} y=${40 - c - s} height=${s} />
  </g>`
}

const shapes: Record<string, Shape> = {
  expired: 'expired',
  late: 'late',
  due: 'due',
  good: 'good',
  future: 'late',
}

function EndingTable({ all }: { all: Ending[] }): View {
  return html`<div class="card table-card">
    <h2>Next to end</h2>
    <table>
      <thead><tr><th scope="col">Node</th><th scope="col">Certificate</th><th scope="col">Left</th><th scope="col" class="wide">Ends</th></tr></thead>
      <tbody>${all.slice(0, listed).map(
        ({ node, kind, life }) =>
          html`<tr key=${`${node} ${kind}`}>
            <th scope="row"><a href=${linkTo('fleet', node)}>${node}</a></th>
            <td><${Glyph} shape=${shapes[certificateState(life, now.value)] ?? 'none'} /> ${kind}</td>
            <td>${left(life[1], now.value)}</td>
            <td class="wide">${moment(life[1])}</td>
          </tr>`,
      )}</tbody>
    </table>
  </div>`
}

function IssuerTable({ all }: { all: Ending[] }): View {
  return html`<div class="card table-card">
    <h2>By issuing CA</h2>
    <table>
      <thead><tr><th scope="col">CA</th><th scope="col">Client</th><th scope="col">Serving</th></tr></thead>
      <tbody>${byIssuer(all).map(
        ({ issuer, client, serving }) =>
          html`<tr key=${issuer}><th scope="row"><code>${issuer}</code></th><td>${client.toLocaleString('en')}</td><td>${serving.toLocaleString('en')}</td></tr>`,
      )}</tbody>
    </table>
    <p class="muted">The first digits of the CA's SHA-256; with ~ those of its name, where only that is known.</p>
  </div>`
}
