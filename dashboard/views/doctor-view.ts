import type { Report } from '../../src/doctor/diagnose.ts'
import type { ReportedFinding } from '../../src/doctor/group-findings.ts'
import { html, type View } from '../html.ts'
import { moment, plural } from '../model/format.ts'
import { CommandLine } from '../parts/command.ts'
import { Empty } from '../parts/empty.ts'
import { Glyph } from '../parts/glyph.ts'
import { useLoaded } from '../parts/loaded.ts'

/** What `rollcall doctor` finds, asked with the viewer's own rights. */
export function DoctorView(): View {
  const { value, error, loading, again } = useLoaded<Report>('doctor')
  return html`<section class="page" aria-labelledby="doctor-title" aria-busy=${loading}>
    <div class="title-row"><h1 id="doctor-title">Doctor</h1>
      <p class="muted">${value ? `looked ${moment(Date.parse(value.at) / 1000)}` : ''}</p>
      <button type="button" class="quiet" disabled=${loading} onClick=${again}>${loading ? 'Looking …' : 'Look again'}</button></div>
    ${error && html`<p class="notice bad" role="alert">${error}</p>`}
    ${value && html`<${Findings} report=${value} />`}
  </section>`
}

function Findings({ report: { findings, explained, checks, missing } }: { report: Report }): View {
  const count = (status: string) => checks.filter(check => check.status === status).length
  const skipped = checks.filter(({ status }) => status === 'SKIP')
  return html`${
    findings.length === 0
      ? html`<${Empty} title="Nothing found">${plural(count('OK'), 'check')} found nothing wrong${skipped.length > 0 ? `; ${skipped.length} could not be made` : ''}.<//>`
      : findings.map(finding => html`<${Finding} key=${finding.id + finding.cause} finding=${finding} />`)
  }
    ${explained.length > 0 && html`<p class="muted">Explained by these: ${explained.map(({ id, by, count }) => `${id} ×${count} by ${by}`).join(', ')}.</p>`}
    <details class="card"><summary>${plural(count('OK'), 'check')} OK, ${skipped.length} could not be made, ${count('NOT_ASKED')} not part of this look</summary>
      ${skipped.length > 0 && html`<p>Could not be made: ${skipped.map(({ id, title, missing }) => `${id} ${title} (lacks ${missing.join(', ')})`).join('; ')}</p>`}
      ${missing
        .filter(({ status }) => status !== 'absent' && status !== 'notAsked')
        .map(({ artifact, status, reason }) => html`<p class="muted">${artifact}: ${status}, ${reason}</p>`)}
      <ul class="checks">${checks
        .filter(({ status }) => status === 'OK')
        .map(({ id, title }) => html`<li><code>${id}</code> ${title}</li>`)}</ul>
    </details>`
}

const tones = { critical: 'expired', warning: 'late', info: 'none' } as const

function Finding({ finding }: { finding: ReportedFinding }): View {
  const { id, severity, title, symptom, objects, evidence, cause, fix, verify } = finding
  return html`<article class="card finding">
    <h2><${Glyph} shape=${severity} tone=${tones[severity]} /> <code>${id}</code> ${title}
      <span class="tag">${severity}</span>${objects.length > 1 && html`<span class="tag">×${objects.length}</span>`}</h2>
    <p class="lead">${cause}</p>
    <dl>
      <dt>At</dt><dd>${objects.slice(0, 8).join(', ')}${objects.length > 8 ? ` and ${objects.length - 8} more` : ''}</dd>
      <dt>You notice</dt><dd>${symptom}</dd>
      <dt>Evidence</dt><dd><ul class="evidence">${evidence.map(({ value, source, at }) => html`<li>${value}<small>${source}${at ? `, ${at}` : ''}</small></li>`)}</ul></dd>
    </dl>
    ${fix.map(command => html`<${CommandLine} ...${command} />`)}
    <p class="muted">Then</p><${CommandLine} ...${verify} />
  </article>`
}
