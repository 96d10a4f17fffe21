import { computed, signal } from '@preact/signals'

export const views = ['fleet', 'requests', 'expiry', 'rollover', 'doctor', 'audit'] as const
export type ViewName = (typeof views)[number]

const hash = signal(location.hash)
addEventListener('hashchange', () => {
  hash.value = location.hash
})

/** `#/requests/NAME`: the view, and what is open in it. */
export const route = computed<{ view: ViewName; name: string | undefined }>(() => {
  const [, first = '', name] = hash.value.split('/')
  const view = views.find(view => view === first) ?? 'fleet'
  return { view, name: name === undefined || name === '' ? undefined : decode(name) }
})

function decode(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}

export const linkTo = (view: ViewName, name?: string): string =>
  `#/${view}${name === undefined ? '' : `/${encodeURIComponent(name)}`}`

export function go(view: ViewName, name?: string): void {
  location.hash = linkTo(view, name)
}
