import { html, type View } from '../html.ts'

/** What stands where a list would be. */
export function Empty({ title, children }: { title: string; children?: unknown }): View {
  return html`<div class="empty"><p class="empty-title">${title}</p><p>${children}</p></div>`
}
